import { useEffect, useRef } from 'preact/hooks';
import { usePanel } from '../panel.ts';
import type { TypedPlace, TypedTexts } from '../typed-texts.ts';
import type { ToolPart } from './tool-title.ts';

/** Where the reason for denying a call is typed. */
export const reasonOf = (call: string): TypedPlace => ({ kind: 'reason', id: call, of: '' });

/** The command of a call as the user edited it. Undefined: it is not edited. */
export function editedCommand(typed: TypedTexts, { id, action }: ToolPart): string | undefined {
  if (action?.type !== 'command') return undefined;
  const edited = typed.get({ kind: 'command', id, of: action.command });
  return edited === action.command ? undefined : edited;
}

/** Forgets texts that were typed for calls that are decided. @param waiting ids of the calls that wait. */
export function useForgottenTexts(waiting: readonly string[]): void {
  const { typed } = usePanel();
  const known = useRef<readonly string[]>([]);
  useEffect(() => {
    for (const id of known.current) if (!waiting.includes(id)) typed.forget(id);
    known.current = waiting;
  }, [waiting.join('\n')]);
}
