import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { defined } from '../../../base/json.ts';
import type { ToolDecision } from '../../../chat/tools/tools.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { isComposing } from '../composing.ts';
import { usePanel } from '../panel.ts';
import { editedCommand, reasonOf, useForgottenTexts } from './call-texts.ts';
import type { ToolPart } from './tool-title.ts';

const CARD = '.tool.asking';
const COMPOSER = '.composer textarea';

/** The keys and the focus of calls that wait for a decision. With several calls, a bar answers them together. */
export function WaitingCalls() {
  const { link, state, typed } = usePanel();
  const waiting = state.waiting.value;
  const ids = waiting.map(({ id }) => id);
  useWaitingFocus(ids);
  useForgottenTexts(ids);
  useLayoutEffect(() => {
    document.addEventListener('keydown', onKeyDown, true);
    return () => document.removeEventListener('keydown', onKeyDown, true);
  }, []);
  // A call with a caution and a question are answered one at a time.
  const together = waiting.filter(
    (part) => part.action?.type !== 'question' && !(part.state.type === 'waiting' && part.state.caution),
  );
  if (together.length < 2) return null;
  const single = waiting.length - together.length;
  const decideAll = (decision: (part: ToolPart) => ToolDecision) => (event: MouseEvent) => {
    if (event.detail > 1) return;
    for (const part of together) link.post({ type: 'decide', call: part.id, decision: decision(part) });
  };
  const allow = (part: ToolPart): ToolDecision => {
    const command = editedCommand(typed, part);
    return { type: 'once', ...defined({ command }) };
  };
  const deny = ({ id }: ToolPart): ToolDecision => ({ type: 'deny', reason: typed.get(reasonOf(id)) ?? '' });
  return (
    <fieldset class="waiting-calls" aria-label={t('Calls that need approval')}>
      <Icon name="question" />
      <span class="count">
        {single === 0
          ? t('{0} calls need approval', waiting.length)
          : t('{0} calls need approval, {1} of them one at a time', waiting.length, single)}
      </span>
      <span class="actions">
        <button
          type="button"
          class="primary"
          title={t('Allow each of them once (Ctrl+Shift+Enter)')}
          aria-keyshortcuts="Control+Shift+Enter Meta+Shift+Enter"
          onClick={decideAll(allow)}
        >
          {single === 0 ? t('Allow all') : t('Allow {0}', together.length)}
        </button>
        <button type="button" onClick={decideAll(deny)}>
          {single === 0 ? t('Deny all') : t('Deny {0}', together.length)}
        </button>
      </span>
    </fieldset>
  );
}

/**
 * Ctrl+Enter allows the call with the focus, or the first one. A call that is not visible is shown first.
 * Ctrl+Shift+Enter allows all that the bar allows.
 */
function onKeyDown(event: KeyboardEvent): void {
  const target = event.target instanceof Element ? event.target : null;
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || isComposing(event)) return;
  const card = target?.closest(CARD) ?? document.querySelector(CARD);
  if (!(card instanceof HTMLElement) || writesMessage(target)) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.repeat) return;
  const all = event.shiftKey ? document.querySelector<HTMLElement>('.waiting-calls .primary') : null;
  if (all) return all.click();
  if (!isVisible(card)) return focusCard(card);
  card.querySelector<HTMLElement>('.approval .primary')?.click();
}

/** True if the user writes a message, or a reason for denying the call. */
function writesMessage(target: Element | null): boolean {
  if (target instanceof HTMLInputElement) return target.value.trim() !== '';
  return target instanceof HTMLTextAreaElement && !target.closest(CARD) && target.value.trim() !== '';
}

function isVisible(card: HTMLElement): boolean {
  const buttons = card.querySelector('.approval')?.getBoundingClientRect();
  const list = card.closest('.transcript')?.getBoundingClientRect();
  return buttons !== undefined && list !== undefined && buttons.top >= list.top - 1 && buttons.top < list.bottom;
}

function focusCard(card: HTMLElement): void {
  card.focus({ preventScroll: true });
  card.querySelector('.approval')?.scrollIntoView({ block: 'end' });
}

/**
 * After a decision the focus moves to the next waiting call, otherwise to the input. It never moves while the user
 * writes, and never from another part of VS Code to the panel.
 */
function useWaitingFocus(ids: readonly string[]): void {
  const known = useRef<readonly string[]>([]);
  const key = ids.join('\n');
  useEffect(() => {
    const gone = known.current.some((id) => !ids.includes(id));
    const fresh = ids.some((id) => !known.current.includes(id));
    known.current = ids;
    if ((!gone && !fresh) || !document.hasFocus() || isBusyElsewhere(document.activeElement)) return;
    const card = document.querySelector<HTMLElement>(CARD);
    if (card) focusCard(card);
    else document.querySelector<HTMLElement>(COMPOSER)?.focus();
  }, [key]);
}

/** True if the focus is where the user works: in a text, or on a control other than of a decided call. */
function isBusyElsewhere(active: Element | null): boolean {
  if (active === null || active === document.body || active.closest('.waiting-calls')) return false;
  if (active instanceof HTMLTextAreaElement && active.matches(COMPOSER)) return active.value !== '';
  const card = active.closest('.tool');
  return card === null || card.matches(CARD);
}
