// many-items.ts request|answer SIZE: carries requests or answers with so many items between all formats.
import { messages } from '../../src/wire/messages/format.ts';
import { bodyOf, carry } from './carry.ts';
import { CONTEXT, FORMAT_LIST, wholeEvents } from './format-pairs.ts';

const [kind, size] = process.argv.slice(2);
const list = <T>(make: (index: number) => T): T[] => Array.from({ length: Number(size) }, (_, at) => make(at));
const parts = () => list(() => ({ type: 'text', text: 't' }));

for (const format of FORMAT_LIST) {
  if (kind === 'request') {
    carry(
      format,
      bodyOf(
        format,
        list(() => ({ role: 'user', content: 'u' })),
      ),
    );
    for (const role of ['user', 'assistant']) carry(format, bodyOf(format, [{ role, content: parts() }]));
  } else {
    const tools = list((at) => ({ id: `c${at}`, name: 'f', arguments: ['{}'] }));
    messages.writeAnswer(CONTEXT, wholeEvents(format, { tools }));
  }
}
