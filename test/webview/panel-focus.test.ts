import assert from 'node:assert/strict';
import type { Message } from '../../src/chat/transcript.ts';
import type { ToPage } from '../../src/protocol/chat/page-messages.ts';
import { clickAndType, inPage } from '../host/person.ts';
import { STATES } from './gallery-states.ts';
import { COMPLETE, type Panel, type PanelHost, snapshot, startPanelHost, transcriptOf, VIEW } from './panel-page.ts';

const SET: ToPage = { type: 'model', model: VIEW };
const says = (role: 'user' | 'assistant', text: string, more: Partial<Message> = {}): Partial<Message> => ({
  role,
  parts: [{ type: 'text', text }],
  ...(role === 'assistant' ? { ending: COMPLETE } : {}),
  ...more,
});
const attachment = (id: string) => ({ id, kind: 'file' as const, label: `${id}.ts`, tokens: 12 });
const draft = (...ids: readonly string[]): ToPage => ({ type: 'draft', attachments: ids.map(attachment) });
const starts: ToPage = {
  ...{ type: 'patches', session: 's', from: 0, seq: 1 },
  patches: [{ type: 'add', message: { id: 'm9', role: 'assistant', parts: [], createdAt: 9, parent: 'm0' } }],
};
const TALK = [SET, snapshot(transcriptOf(says('user', 'Question'), says('assistant', 'Answer')))];
const FAILED = [
  SET,
  snapshot(
    transcriptOf(
      says('user', 'Question'),
      says('assistant', 'Half', { ending: { type: 'finished', reason: 'length', outcome: 'incomplete' } }),
    ),
  ),
];
const RUNNING = [SET, snapshot(transcriptOf(says('user', 'Question'), { role: 'assistant', parts: [] }))];
const BRANCHES = [
  SET,
  snapshot(
    transcriptOf(
      says('user', 'Question'),
      says('assistant', 'First'),
      says('assistant', 'Second', { id: 'm2', parent: 'm0' }),
    ),
  ),
];

/** What the user closes or presses, and what the host answers. Afterwards the next keys are those of a message. */
const CASES: Readonly<
  Record<string, { show: readonly ToPage[]; press: readonly (string | RegExp)[]; host?: readonly ToPage[] }>
> = {
  'a removed attachment': { show: [...TALK, draft('a', 'b')], press: ['Remove a.ts'], host: [draft('b')] },
  'the last removed attachment': { show: [...TALK, draft('a')], press: ['Remove a.ts'], host: [draft()] },
  'a part of the context that is switched off': { show: STATES.composer ?? [], press: [/^AGENTS\.md/] },
  'a queued message that is removed': {
    show: STATES.composer ?? [],
    press: [/^Remove from the queue/],
    host: [{ type: 'queue', messages: [] }],
  },
  'an edited message that is sent': { show: TALK, press: ['Edit message', 'Send'], host: [starts] },
  'an edit that is cancelled': { show: TALK, press: ['Edit message', 'Cancel'] },
  'a sent message': { show: [...TALK, draft('a')], press: ['Send'], host: [starts] },
  'an answer that is made again': { show: TALK, press: ['Regenerate'], host: [starts] },
  'an answer that goes on': { show: FAILED, press: ['Continue'], host: [starts] },
  'a copied answer': { show: TALK, press: ['Copy answer'] },
  'the first version of an answer': {
    show: BRANCHES,
    press: ['Previous version'],
    host: [{ type: 'patches', session: 's', from: 0, seq: 1, patches: [{ type: 'select', leaf: 'm1' }] }],
  },
  'an answer that is stopped': {
    show: RUNNING,
    press: ['Stop'],
    host: [
      {
        ...{ type: 'patches', session: 's', from: 0, seq: 1 },
        patches: [{ type: 'end', message: 'm1', ending: { type: 'stopped' } }],
      },
    ],
  },
  'changes that are kept': { show: STATES['changed-files'] ?? [], press: ['Keep'] },
  'changes that are undone': { show: STATES['changed-files'] ?? [], press: ['Undo all'] },
  'plan mode': { show: TALK, press: ['Plan'] },
  'a plan that is carried out': { show: STATES.plan ?? [], press: ['Start the work'], host: [starts] },
  'a choice of the model': { show: TALK, press: [/Up Large/] },
  'a copied block of code': { show: STATES.answer ?? [], press: ['Copy code'] },
};

describe('keys after a control of the chat page was pressed', () => {
  let host: PanelHost;
  let panel: Panel;
  before(async () => {
    host = await startPanelHost();
  });
  after(() => host.close());
  beforeEach(async () => {
    panel = await host.open();
  });
  afterEach(() => panel.close());

  const press = async (names: readonly (string | RegExp)[], by: 'click' | 'Enter') => {
    for (const name of names) {
      const exact = typeof name === 'string';
      const button = panel.page.getByRole('button', { name, ...(exact ? { exact } : {}) }).first();
      if (by === 'click') await button.click();
      else await button.press('Enter');
    }
  };
  const input = () => panel.page.locator('.composer textarea');

  for (const [after, { show, press: names, host: answers = [] }] of Object.entries(CASES)) {
    for (const by of ['click', 'Enter'] as const) {
      it(`chat page: text typed after ${after} (${by}) is in the message`, async () => {
        await panel.tell(...show);
        await press(names, by);
        await panel.tell(...answers);
        await panel.page.keyboard.type('next');
        assert.equal(await input().inputValue(), 'next');
      });
    }
  }

  it('chat page: keys that follow a click at once are in the message', async () => {
    await panel.tell(...(STATES['changed-files'] ?? []));
    // A space would press the button again.
    await clickAndType(panel.page, panel.page.getByRole('button', { name: 'Keep', exact: true }), ' next');
    await panel.page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>('.composer textarea')?.value === ' next',
    );
  });

  it('chat page: the input has the focus after the control that had it was removed or disabled', async () => {
    await panel.tell(...TALK, draft('a', 'b'));
    await press(['Remove a.ts'], 'Enter');
    await panel.tell(draft('b'));
    await panel.page.locator('.composer textarea:focus').waitFor();
    await press(['Regenerate'], 'click');
    await panel.tell(starts);
    await panel.page.locator('.composer textarea:focus').waitFor();
  });

  it('chat page: the open file has one chip when it is attached', async () => {
    await panel.tell(...(STATES.composer ?? []));
    const chip = panel.page.locator('.composer .chip', { hasText: 'basket.ts:3-9' });
    const attached = {
      id: 'a',
      kind: 'selection' as const,
      label: 'basket.ts:3-9',
      detail: 'src/basket.ts:3-9',
      tokens: 120,
    };
    for (const attachments of [[attached], []] as const) {
      await panel.tell({ type: 'draft', attachments });
      await panel.page
        .getByRole('button', { name: 'Remove basket.ts:3-9' })
        .waitFor(attachments.length > 0 ? {} : { state: 'detached' });
      assert.equal(await chip.count(), 1);
    }
  });

  it('chat page: Escape closes an edit of a message, and the input has the focus', async () => {
    await panel.tell(...TALK);
    await press(['Edit message'], 'Enter');
    await panel.page.keyboard.press('Escape');
    await panel.page.locator('.composer textarea:focus').waitFor();
  });

  it('chat page: Escape closes the list of mentions, and a chosen one closes it too', async () => {
    await panel.tell(...TALK);
    await input().click();
    for (const key of ['Escape', 'Enter']) {
      await panel.page.keyboard.type(' @b');
      const { query } = (await panel.sentMessages('complete')).at(-1) ?? {};
      const items = [{ id: '1', label: 'basket.ts', icon: 'file', insert: '@basket.ts ' }];
      await panel.tell({ type: 'completions', query: Number(query), items });
      await panel.page.keyboard.press(key);
      await panel.page.locator('#completions').waitFor({ state: 'detached' });
      await panel.page.keyboard.type('x');
    }
    assert.equal(await input().inputValue(), ' @bx @basket.ts x');
  });

  it('chat page: text that is typed while text of the answer is selected is in the message', async () => {
    await panel.tell(...TALK);
    await panel.page.locator('.message.assistant .markdown').dblclick();
    await panel.page.keyboard.type('why');
    assert.equal(await input().inputValue(), 'why');
  });

  /** The host sends messages, and the user acts before the next frame. */
  const atOnce = (messages: readonly ToPage[], act: 'type' | 'allow') =>
    inPage(
      panel.page,
      'nothing else is as fast',
      async ([list, action]) => {
        for (const data of list) window.dispatchEvent(new MessageEvent('message', { data, origin: window.origin }));
        // The page is rendered in a microtask.
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        const active = document.activeElement;
        if (action === 'allow') {
          const key = { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true };
          (active ?? document.body).dispatchEvent(new KeyboardEvent('keydown', key));
        } else if (active instanceof HTMLTextAreaElement) {
          active.value += '!';
          active.dispatchEvent(new InputEvent('input', { bubbles: true }));
        }
      },
      [messages, act] as const,
    );

  it('chat page: keys that follow the request for the focus at once are in the message', async () => {
    await panel.tell(...TALK);
    await panel.page.getByRole('button', { name: 'Attach' }).focus();
    await atOnce([{ type: 'focus' }], 'type');
    assert.equal(await input().inputValue(), '!');
  });

  it('chat page: keys that follow the arrival of the conversation at once are the end of the draft', async () => {
    await panel.page.keyboard.type('early');
    await atOnce([{ type: 'draft', text: '', attachments: [] }, ...TALK], 'type');
    await panel.tell();
    assert.equal(await input().inputValue(), 'early!');
    assert.deepEqual(
      (await panel.sentMessages('draft')).map(({ text }) => text),
      ['early', 'early!'],
    );
  });

  it('chat page: Ctrl+Enter that follows the arrival of the conversation at once allows the waiting call', async () => {
    await atOnce(STATES.tools ?? [], 'allow');
    assert.equal((await panel.sentMessages('decide')).length, 1);
  });

  it('chat page: a field that is being written keeps its keys', async () => {
    await panel.tell(...(STATES.tools ?? []));
    const reason = panel.page.getByRole('textbox', { name: 'Reason for denying' }).first();
    await reason.click();
    await panel.page.keyboard.type('No, later');
    assert.equal(await reason.inputValue(), 'No, later');
    assert.equal(await input().inputValue(), '');
  });
});
