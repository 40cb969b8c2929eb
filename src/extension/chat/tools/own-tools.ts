import type { ChatTool } from '../../../chat/tools/tools.ts';
import { userTools } from '../../../chat/tools/user-tools.ts';
import { webTools } from '../../../chat/tools/web/web-tools.ts';
import type { Proposals } from '../editing/proposals.ts';
import type { CommandTerminals } from './command-terminals.ts';
import { fileTools } from './file-tools.ts';
import { readingTools } from './reading-tools.ts';
import { symbolChangingTools, symbolTools } from './symbol-tools.ts';
import { terminalTools } from './terminal-tools.ts';

/** The front ends that show changes and run commands. */
export interface ToolPlaces {
  readonly proposals: Proposals;
  readonly terminals: CommandTerminals;
  /** Called with the address of each web page that is fetched. */
  readonly fetched: (url: string) => void;
}

/** Tools without effects on files and programs: also in a workspace that is not trusted. */
export function harmlessTools(): readonly ChatTool[] {
  return [...readingTools(), ...symbolTools(), ...userTools()];
}

/** Tools that change something: only in a trusted workspace, and each call is shown first. */
export function changingTools({ terminals, fetched }: ToolPlaces): readonly ChatTool[] {
  return [...fileTools(), ...symbolChangingTools(), ...terminalTools(terminals), ...webTools(fetched)];
}
