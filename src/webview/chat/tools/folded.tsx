import { useState } from 'preact/hooks';
import { foldText, showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';

/** Number of rows of a text that are visible at first, and number of characters per row. */
const ROWS = 40;
const WIDTH = 100;

/** Shows the beginning and the end of a text, and the number of omitted lines between them. */
export function Folded({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const shown = showUnseen(text);
  const { head, rest } = whole ? { head: shown } : foldText(shown, ROWS, WIDTH);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
      <pre tabIndex={0}>{head}</pre>
      {rest ? (
        <>
          <button type="button" onClick={() => setWhole(true)}>
            {t('… {0} more lines ({1} characters): show all', rest.lines, rest.characters)}
          </button>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
          <pre tabIndex={0}>{rest.tail}</pre>
        </>
      ) : null}
    </>
  );
}
