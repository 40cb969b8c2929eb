import type { DocumentText } from '../document/document-text.ts';
import { importLines } from './code-names.ts';

const SCRIPT = /^(?:type|java)script(?:react)?$|^vue$|^svelte$/;
/** Of an import statement. */
const MAX_STATEMENT = 1_000;
const ENDINGS = ['.ts', '.tsx', '.d.ts', '.js', '.jsx', '.mjs', '/index.ts', '/index.js'];

/** An import statement of a file of the project. */
export interface ImportedFrom {
  /** Local name -> name in the other file; `*`: the file itself. `*` -> `*`: all names of the other file. */
  readonly names: ReadonlyMap<string, string>;
  /** Addresses where the file may be, the likeliest first. */
  readonly uris: readonly string[];
}

export function isScript(languageId: string): boolean {
  return SCRIPT.test(languageId);
}

/** The imports of other files of the project, by their paths. Knows how TypeScript, JavaScript and Python write them. */
export function findImports(document: DocumentText): readonly ImportedFrom[] {
  const statements = joinStatements(document);
  const { languageId } = document;
  if (isScript(languageId)) return statements.flatMap((text) => scriptImport(document, text) ?? []);
  if (languageId === 'python') return statements.flatMap((text) => pythonImport(document, text) ?? []);
  return [];
}

function joinStatements(document: DocumentText): string[] {
  const statements: string[] = [];
  let last = -2;
  let open = false;
  for (const line of importLines(document)) {
    const text = document.lineAt(line).slice(0, MAX_STATEMENT).trim();
    if (open && line === last + 1) statements.push(`${statements.pop()} ${text}`);
    else statements.push(text);
    last = line;
    const now = (statements.at(-1) ?? '').slice(0, MAX_STATEMENT);
    statements[statements.length - 1] = now;
    open = (now.match(/[({]/g) ?? []).length > (now.match(/[)}]/g) ?? []).length;
  }
  return statements;
}

function scriptImport({ uri }: DocumentText, text: string): ImportedFrom | undefined {
  const found = /(?:\bfrom\s*|\brequire\(\s*|^import\s*)(['"])(\.{1,2}\/[^'"]*|\.{1,2})\1/.exec(text);
  const path = found?.[2];
  if (path === undefined) return undefined;
  const base = resolve(uri, path);
  const plain = base.replace(/\.[cm]?jsx?$/, '');
  const uris = /\.[cm]?tsx?$/.test(base) ? [base] : [...ENDINGS.map((ending) => plain + ending), base];
  const names = new Map<string, string>();
  const head = text.slice(0, found?.index);
  const list = /\{([^}]*)\}/.exec(head)?.[1] ?? '';
  addNames(names, list.replace(/\btype\s/g, ''), /\s+as\s+|\s*:\s*/);
  const all = /\*\s*as\s+([\w$]+)/.exec(head)?.[1];
  if (all !== undefined) names.set(all, '*');
  else if (/^export\s*(?:type\s*)?\*/.test(head)) names.set('*', '*');
  const single = /^(?:import|export)\s+(?:type\s+)?([\w$]+)\s*(?:,|$)|^(?:const|let|var)\s+([\w$]+)\s*=/.exec(
    head.trim(),
  );
  const local = single?.[1] ?? single?.[2];
  if (local !== undefined && local !== 'type') names.set(local, single?.[1] === undefined ? '*' : 'default');
  return names.size === 0 ? undefined : { names, uris };
}

function pythonImport({ uri }: DocumentText, text: string): ImportedFrom | undefined {
  const [, dots = '', module = '', list = ''] = /^from\s+(\.*)([\w.]*)\s+import\s+\(?([^)#]*)/.exec(text) ?? [];
  if (list === '') return undefined;
  const names = new Map<string, string>();
  if (list.trim() === '*') names.set('*', '*');
  else addNames(names, list, /\s+as\s+/);
  const path = module.split('.').join('/');
  // Without dots: from a folder above.
  const above = dots === '' ? ['.', '..', '../..', '../../..'] : [`${'../'.repeat(dots.length - 1)}.`];
  const uris = above.flatMap((folder) => {
    const base = resolve(uri, `${folder}/${path}`).replace(/\/$/, '');
    return path === '' ? [`${base}/__init__.py`] : [`${base}.py`, `${base}/__init__.py`];
  });
  if (path === '') for (const name of names.values()) uris.push(resolve(uri, `${above[0]}/${name}.py`));
  return { names, uris };
}

function addNames(names: Map<string, string>, list: string, as: RegExp): void {
  for (const item of list.split(',')) {
    const [name, local] = item.trim().split(as);
    if (name !== undefined && /^[\w$]+$/.test(name)) names.set(local ?? name, name);
  }
}

/** A path relative to the folder of a file. Encodes nothing: names in imports are plain. */
function resolve(uri: string, path: string): string {
  const parts = uri.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
