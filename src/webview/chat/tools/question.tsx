import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';
import { isSubmit } from '../composing.ts';
import { usePanel } from '../panel.ts';
import type { TypedPlace } from '../typed-texts.ts';

interface Props {
  readonly call: string;
  readonly question: string;
  readonly choices: readonly string[];
}

/** A question of the model: the user chooses an answer or writes one. */
export function Question({ call, question, choices }: Props) {
  const { link, typed } = usePanel();
  const place: TypedPlace = { kind: 'answer', id: call, of: question };
  const text = typed.get(place) ?? '';
  const answer = (chosen: string) => {
    if (chosen.trim() !== '') link.post({ type: 'decide', call, decision: { type: 'answer', text: chosen } });
  };
  return (
    <fieldset class="approval question" aria-label={t('Question of the model')}>
      <p class="plain">{showUnseen(question)}</p>
      <div class="actions choices">
        {choices.map((choice, index) => (
          <button type="button" key={`${index} ${choice}`} onClick={() => answer(choice)}>
            {showUnseen(choice)}
          </button>
        ))}
      </div>
      <div class="actions deny">
        <input
          type="text"
          value={text}
          placeholder={t('Your answer')}
          aria-label={t('Your answer')}
          onInput={(event) => typed.set(place, event.currentTarget.value)}
          onKeyDown={(event) => isSubmit(event) && answer(text)}
        />
        <button type="button" class="primary" disabled={text.trim() === ''} onClick={() => answer(text)}>
          {t('Answer')}
        </button>
        <button
          type="button"
          onClick={() => link.post({ type: 'decide', call, decision: { type: 'deny', reason: '' } })}
        >
          {t('Skip')}
        </button>
      </div>
    </fieldset>
  );
}
