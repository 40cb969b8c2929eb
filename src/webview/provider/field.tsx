import type { ComponentChildren } from 'preact';
import { defined } from '../../base/json.ts';
import type { FieldProblem } from '../../config/provider-form/provider-form.ts';
import { t } from '../shared/words.ts';
import { useDialog } from './dialog-context.ts';

function useProblem(field: string): FieldProblem | undefined {
  const { touched, problems } = useDialog().state;
  if (!touched.value.has(field)) return undefined;
  return problems.value.find((problem) => problem.field === field);
}

export interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly optional?: boolean;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

/** A label, its control and its problem. */
export function Field({ id, label, optional, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional ? <span class="optional"> {t('optional')}</span> : null}
      </label>
      {children}
      <Problem field={id} />
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  );
}

export function Problem({ field }: { field: string }) {
  const problem = useProblem(field);
  return (
    <p class="problem" id={`${field}-problem`} role="alert">
      {problem ? (
        <>
          <span class="codicon codicon-error" aria-hidden="true" />
          <span>{t(problem.text, problem.value ?? '')}</span>
        </>
      ) : null}
    </p>
  );
}

export interface TextProps {
  readonly id: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly secret?: boolean;
  readonly label?: string;
  /** @returns false if Enter has nothing to do here, so that it saves. */
  readonly onEnter?: () => boolean;
  readonly onFocus?: () => void;
  /** The field lost the focus. */
  readonly onLeave?: () => void;
}

/** Fields with a hint. */
const HINTED = new Set(['id', 'key', 'fimURL']);

/** A text input. Enter is ignored while an input method is composing (Windows reports key code 229). */
export function Text({ id, value, onValue, placeholder = '', secret, label, onEnter, onFocus, onLeave }: TextProps) {
  const { state } = useDialog();
  const wrong = useProblem(id) !== undefined;
  const attributes = {
    id,
    value,
    placeholder,
    ...defined({ 'aria-label': label }),
    'aria-invalid': wrong,
    'aria-describedby': HINTED.has(id) ? `${id}-problem ${id}-hint` : `${id}-problem`,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    onInput: (event: InputEvent & { currentTarget: HTMLInputElement }) => onValue(event.currentTarget.value),
    onFocus: () => onFocus?.(),
    onBlur: () => {
      // An empty field that was only passed is not a mistake yet.
      if (value !== '') state.touch(id);
      onLeave?.();
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.isComposing || event.keyCode === 229 || !onEnter) return;
      if (onEnter()) event.preventDefault();
    },
  } as const;
  return secret ? <input type="password" {...attributes} /> : <input type="text" {...attributes} />;
}
