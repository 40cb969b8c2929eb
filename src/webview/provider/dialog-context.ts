import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { FromDialog, ToDialog } from '../../protocol/provider-dialog.ts';
import type { HostLink } from '../shared/host-link.ts';
import type { DialogState } from './dialog-state.ts';

/** Shared by all components of the page. */
export interface Dialog {
  readonly link: HostLink<FromDialog, ToDialog>;
  readonly state: DialogState;
}

export const DialogContext = createContext<Dialog | undefined>(undefined);

export function useDialog(): Dialog {
  const dialog = useContext(DialogContext);
  if (!dialog) throw new Error('This component must be inside DialogContext.');
  return dialog;
}
