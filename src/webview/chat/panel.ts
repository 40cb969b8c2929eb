import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ConversationState } from './conversation-state.ts';
import type { ChatHost } from './host-link.ts';
import type { DrawLater } from './markdown/draw-later.ts';
import type { PathLinks } from './markdown/path-links.ts';
import type { TypedTexts } from './typed-texts.ts';

/** Shared by all components of the page. */
export interface Panel {
  readonly link: ChatHost;
  readonly state: ConversationState;
  readonly drawing: DrawLater;
  readonly paths: PathLinks;
  readonly typed: TypedTexts;
}

export const PanelContext = createContext<Panel | undefined>(undefined);

export function usePanel(): Panel {
  const panel = useContext(PanelContext);
  if (!panel) throw new Error('This component must be inside PanelContext.');
  return panel;
}
