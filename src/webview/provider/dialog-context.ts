import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { DialogState } from './dialog-state.ts';
import type { HostLink } from './host-link.ts';

/** Shared by all components of the page. */
export interface Dialog {
  readonly link: HostLink;
  readonly state: DialogState;
}

export const DialogContext = createContext<Dialog | undefined>(undefined);

export function useDialog(): Dialog {
  const dialog = useContext(DialogContext);
  if (!dialog) throw new Error('This component must be inside DialogContext.');
  return dialog;
}
