import assert from 'node:assert/strict';
import { read } from './pages.ts';

/** The setups of other tools in docs/gateway.md. */

const PAGE = read('docs/gateway.md');
const ADDRESS = 'http://127.0.0.1:4180';

export interface Place {
  readonly url: string;
  readonly key: string;
}

const TABLE = PAGE.slice(PAGE.indexOf('## Other tools and SDKs\n'), PAGE.indexOf('### Claude Code\n'));
const ROWS = new Map([...TABLE.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, tool = '', text = '']) => [tool, text]));

/** The tools of the table. */
export const DOCUMENTED_TOOLS = [...ROWS.keys()].filter((tool) => tool !== 'tool' && tool !== '---');

/** The row of a tool with the address and the key of a gateway. */
export function documentedRow(tool: string, { url, key }: Place): string {
  return filled(ROWS.get(tool) ?? assert.fail(`no row for ${tool}`), url, key);
}

/** The pieces of code in the row of a tool. */
export function documentedCode(tool: string, place: Place): readonly string[] {
  return [...documentedRow(tool, place).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** The variables in the row of a tool. */
export function documentedVariables(tool: string, place: Place): Record<string, string> {
  return variables(documentedRow(tool, place));
}

/** The files in the section of a tool, in order. */
export function documentedFiles(section: string, { url, key }: Place): readonly string[] {
  return [...sectionText(section).matchAll(/```\w+\n([\s\S]*?)```/g)].map(([, text = '']) => filled(text, url, key));
}

/** The variables in the text of a section. */
export function sectionVariables(section: string): Record<string, string> {
  return variables(sectionText(section));
}

/** Whether the section of a tool contains the text. */
export function documents(section: string, text: string): boolean {
  return sectionText(section).includes(text);
}

function sectionText(section: string): string {
  const start = PAGE.indexOf(`### ${section}\n`);
  assert.ok(start > 0, `no section ${section}`);
  const [text = ''] = PAGE.slice(start + 4).split(/^##/m);
  return text;
}

function variables(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/`([A-Z_]+)=([^`]+)`/g)].map(([, name, value]) => [name, value]));
}

function filled(text: string, url: string, key: string): string {
  return text.replaceAll(ADDRESS, url).replaceAll('$KEY', key);
}
