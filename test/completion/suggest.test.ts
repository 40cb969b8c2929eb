import assert from 'node:assert/strict';
import { Person } from './person.ts';

describe('a suggestion while typing', () => {
  it('is shown when its first line is there, and grows at its end', async () => {
    const person = new Person('function add(a, b) |\n');
    person.answers = () => ['{\n  return a', ' + b;\n', '}'];
    person.pieceMs = 200;
    person.ask();
    await person.clock.pass(250);
    assert.equal(person.ghost, '{');
    await person.clock.pass(1000);
    assert.equal(person.ghost, '{\n  return a + b;\n}');
    assert.equal(person.asked.length, 1);
  });

  it('shrinks while it is typed, in the same tick and without another request', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.ask();
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'first + second;');
    for (let typed = 1; typed <= 6; typed++) {
      person.edit('first '[typed - 1] ?? '');
      assert.equal(person.ghost, 'first + second;'.slice(typed));
    }
    await person.clock.pass(1000);
    assert.equal(person.asked.length, 1);
  });

  it('comes back in the same tick when a character is deleted', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.ask();
    await person.clock.pass(1000);
    person.edit('x');
    assert.equal(person.ghost, undefined);
    person.edit('', { deleted: 1 });
    assert.equal(person.ghost, 'first + second;');
    person.edit('', { deleted: 1 });
    assert.equal(person.ghost, ' first + second;');
  });

  it('is taken from a request that was sent some keys ago', async () => {
    const person = new Person('const sum = |\n');
    person.answers = () => ['first + second;'];
    person.firstTextMs = 500;
    person.ask();
    await person.clock.pass(100);
    await person.type('fir', 100);
    assert.equal(person.ghost, undefined);
    await person.clock.pass(1000);
    assert.equal(person.ghost, 'st + second;');
    assert.equal(person.asked.length, 1);
  });
});
