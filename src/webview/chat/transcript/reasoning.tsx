import { useState } from 'preact/hooks';
import type { Part } from '../../../chat/transcript.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { secondsText, tokensText } from '../figures.ts';
import { showControls } from '../markdown/safe-html.ts';

type ReasoningPart = Extract<Part, { type: 'reasoning' }>;

/** The reasoning, folded at first. Its text is in the document only while it is unfolded. */
export function Reasoning({ part, whole }: { part: ReasoningPart; whole: boolean }) {
  const [open, setOpen] = useState(false);
  const running = part.ms === undefined && !whole;
  if (part.text === '' && !running && part.ms === undefined) return null;
  const tokens = tokensText(Math.ceil(part.text.length / 4));
  const label = running
    ? t('Reasoning…')
    : part.ms === undefined
      ? t('Reasoning')
      : t('Reasoned for {0} s', secondsText(part.ms));
  return (
    <details class="fold reasoning" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name={running ? 'loading' : 'lightbulb'} spin={running} />
        <span>{label}</span>
        {part.text === '' ? null : <span class="figures">{t('about {0} tokens', tokens)}</span>}
      </summary>
      {open ? (
        <p class="plain fold-body" dir="auto">
          {showControls(part.text)}
        </p>
      ) : null}
    </details>
  );
}
