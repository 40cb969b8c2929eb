import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type InEditorName, keyOf, openAt, withEditor } from './in-editor.ts';
import { hash, Oracle } from './oracle.ts';
import { READING_MS, Rhythm } from './rhythm.ts';
import { ghostNow } from './screen.ts';
import { random } from './truth.ts';

/** A finished file of a language, with a part to be typed between two marks. */
const FILES = new URL('languages/', import.meta.url);
const MARK = '‸';
/** All lines of a file are on screen: its text is read there. */
const VIEWPORT = { width: 1280, height: 1900 };
/** VS Code replaces a tab by so many blanks on screen and in the column of the status bar. */
const TAB = '    ';
/** The language server of HTML closes a tag and quotes an attribute 100 ms after the key: a user waits for it. */
const CLOSING_MS = 400;
/** VS Code opens the list of suggestions so long after a key, on a machine that has more to do. */
const LIST_MS = 300;
/** States of the screen that a user who does not get on looks at. */
const MOST_STEPS = 3_000;

/** One language with one contestant. */
export interface Delivered {
  readonly contestant: InEditorName;
  readonly language: string;
  readonly missing: number;
  /** Characters that were typed, and those of accepted suggestions. */
  typed: number;
  accepted: number;
  requests: number;
  /** Keys for what the editor did and the user did not want: other indentation, superfluous closers, an open list. */
  indentation: number;
  closers: number;
  closedLists: number;
  /** Keys before which ghost text was on screen, the list was, or both were. */
  ghosts: number;
  lists: number;
  both: number;
  /** Keys after which ghost text had gone because a list came. */
  hidden: number;
  /** Positions at which the saved file is not the expected one, and where the user was lost. */
  wrong: number;
  readonly lost: string[];
}

interface Part {
  readonly name: string;
  /** With tabs as on screen. */
  readonly lines: readonly string[];
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Types a part of a file of each language into VS Code with its default settings. */
export async function typeAsDelivered(
  contestant: InEditorName,
  options: { readonly errorPercent: number; readonly firstMs: number; readonly seed: number; readonly only?: string },
  report: (row: Delivered) => void,
): Promise<readonly Delivered[]> {
  const parts = readParts().filter(({ name }) => options.only === undefined || name.endsWith(`.${options.only}`));
  const oracle = new Oracle(
    parts.map(({ file }) => file),
    options.errorPercent,
  );
  const settings = { 'git.enabled': false };
  return withEditor(contestant, { oracle, firstMs: options.firstMs, settings, viewport: VIEWPORT }, async (editor) => {
    const rows: Delivered[] = [];
    for (const [index, part] of parts.entries()) {
      const row = emptyRow(contestant, part);
      const before = editor.server.seen.length;
      await new Typing(editor.page, editor.workspace, part, row, random(options.seed + index)).run();
      row.requests = editor.server.seen.length - before;
      rows.push(row);
      report(row);
    }
    return rows;
  });
}

function readParts(): Part[] {
  return readdirSync(FILES)
    .sort()
    .map((name) => {
      const [before = '', typed = '', after = ''] = readFileSync(new URL(name, FILES), 'utf8').split(MARK);
      const file = before + typed + after;
      const start = before.trimEnd().length;
      const end = (before + typed).trimEnd().length;
      return { name: name.replace(/\.txt$/, ''), file, start, end, lines: onScreen(file).split('\n') };
    });
}

function onScreen(text: string): string {
  return text.replaceAll('\t', TAB);
}

function emptyRow(contestant: InEditorName, { name, start, end }: Part): Delivered {
  return {
    contestant,
    language: name.slice(name.indexOf('.') + 1),
    missing: end - start,
    typed: 0,
    accepted: 0,
    requests: 0,
    indentation: 0,
    closers: 0,
    closedLists: 0,
    ghosts: 0,
    lists: 0,
    both: 0,
    hidden: 0,
    wrong: 0,
    lost: [],
  };
}

interface Screen {
  readonly lines: readonly string[];
  readonly line: number;
  readonly column: number;
  /** The line of the caret and those below up to the end of the ghost text. */
  readonly ghost: readonly string[] | undefined;
  /** The item of the suggestion list that Enter would accept. */
  readonly item: string | undefined;
}

/** Runs in the page. */
function readScreen(): Screen {
  const ghosts = '.ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text';
  const top = (line: HTMLElement): number => Number.parseFloat(line.style.top);
  const clean = (text: string | null): string => (text ?? '').replaceAll('\u00a0', ' ').replaceAll('\u200b', '');
  const rows = [
    ...document.querySelectorAll<HTMLElement>('.editor-instance .lines-content > .view-lines > .view-line'),
  ];
  rows.sort((a, b) => top(a) - top(b));
  // The status bar is late.
  const caret = document.querySelector('.editor-instance .cursors-layer .cursor')?.getBoundingClientRect();
  const texts = rows.map((row) => row.firstElementChild?.getBoundingClientRect());
  const isPlain = (row: HTMLElement | undefined): boolean => row?.querySelector('.ghost-text-hidden') === null;
  const longest = rows.reduce(
    (most, row, at) => (isPlain(row) && (texts[at]?.width ?? 0) > (texts[most]?.width ?? 0) ? at : most),
    0,
  );
  const width = (texts[longest]?.width ?? 0) / clean(rows[longest]?.textContent ?? null).length;
  const line = rows.findIndex((row) => Math.abs(row.getBoundingClientRect().top - (caret?.top ?? 0)) < 4);
  const column = Math.round(((caret?.left ?? 0) - (texts[line]?.left ?? 0)) / width);
  let ghost: string[] | undefined;
  const lines = rows.map((row, index) => {
    let real = '';
    let drawn = '';
    let upToGhost: string | undefined;
    let hidden = '';
    for (const span of row.querySelectorAll<HTMLElement>(':scope > span > span')) {
      const text = clean(span.textContent);
      if (span.matches(ghosts)) {
        drawn += text;
        upToGhost = drawn;
        continue;
      }
      real += text;
      if (span.classList.contains('ghost-text-hidden')) hidden += text;
      else drawn += text;
    }
    if (index === line) {
      const below = [...document.querySelectorAll('.suggest-preview-text .view-line')].map((each) =>
        clean(each.textContent),
      );
      if (below.length > 0) {
        const last = below.pop() ?? '';
        ghost = [drawn, ...below, last.endsWith(hidden) ? last.slice(0, last.length - hidden.length) : last];
      } else if (upToGhost !== undefined) ghost = [upToGhost];
    }
    return real;
  });
  const focused = document.querySelector('.suggest-widget.visible .monaco-list-row.focused .label-name');
  return { lines, line, column, ghost, item: focused ? clean(focused.textContent) : undefined };
}

/** A user who types a part, and deals with all that the editor inserts, indents and offers. */
class Typing {
  readonly #page: Page;
  readonly #path: string;
  readonly #part: Part;
  readonly #row: Delivered;
  readonly #rhythm: Rhythm;
  /** The lines after the part, the first of which is the rest of its last line. */
  readonly #below: number;
  /** The last line of the part, and its length. */
  readonly #end: { readonly line: number; readonly column: number };
  #ghostBefore = false;
  #lastKey = '';

  constructor(page: Page, workspace: string, part: Part, row: Delivered, next: () => number) {
    this.#page = page;
    this.#path = join(workspace, part.name);
    this.#part = part;
    this.#row = row;
    this.#rhythm = new Rhythm(next);
    const typed = onScreen(part.file.slice(0, part.end)).split('\n');
    this.#below = part.lines.length - typed.length;
    this.#end = { line: typed.length - 1, column: typed.at(-1)?.length ?? 0 };
  }

  async run(): Promise<void> {
    const { file, start, end, name } = this.#part;
    writeFileSync(this.#path, file.slice(0, start) + file.slice(end));
    await openAt(this.#page, this.#path, name, file.slice(0, start));
    for (let step = 0; step < MOST_STEPS && (await this.#step()); step++);
    await this.#page.keyboard.press('Escape');
    await this.#page.keyboard.press('ControlOrMeta+S');
    await this.#page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).waitFor();
    this.#row.wrong += differences(readFileSync(this.#path, 'utf8'), file);
  }

  /** Reads the screen and presses what a user would; false at the end. */
  async #step(): Promise<boolean> {
    const seen = await this.#read();
    const before = seen.lines[seen.line]?.slice(0, seen.column) ?? '';
    const wanted = this.#part.lines[seen.line] ?? '';
    const blank = before.trim() === '';
    const isOff = seen.lines.slice(0, seen.line).findIndex((line, at) => line.trimEnd() !== this.#part.lines[at]);
    if (isOff >= 0 || (!blank && !wanted.startsWith(before))) return this.#lose(seen, isOff);
    this.#note(seen);
    if (!isIgnored(seen.line) && this.#isRight(seen)) {
      await this.#accept(seen);
      return true;
    }
    const behind = this.#behind(seen);
    const needed = blank && wanted !== '' ? wanted.trimStart() : wanted.slice(before.length);
    if (seen.line === this.#end.line && before.length === this.#end.column) return this.#tidy(behind);
    await this.#write(seen, { before, wanted, needed, behind, blank });
    return true;
  }

  async #write(
    seen: Screen,
    at: { before: string; wanted: string; needed: string; behind: string; blank: boolean },
  ): Promise<void> {
    const { before, wanted, needed, behind, blank } = at;
    const rest = [needed, ...this.#part.lines.slice(seen.line + 1, this.#end.line + 1)].join('\n');
    if (!isAhead(behind, rest)) return this.#press('Delete', 'closers');
    if (blank && wanted !== '') {
      const lead = wanted.length - wanted.trimStart().length;
      // An empty line above the closer that is wanted here.
      if (/^\s+\S/.test(behind) && closerOf(behind) === closerOf(needed)) return this.#press('Delete', 'closers');
      if (before.length > lead) return this.#press('Backspace', 'indentation');
      if (before.length < lead) {
        const isTab = this.#part.file.includes('\n\t');
        return this.#press(isTab ? 'Tab' : 'Space', 'indentation');
      }
    }
    const isLineEnd = needed === '';
    const closer = closerOf(rest);
    if (isLineEnd && /^[^\S\n]*\n/.test(behind) && rest.trim() !== '' && closerOf(behind) === closer) {
      await this.#keys('ArrowDown', 'Home', ...Array.from(closer, () => 'ArrowRight'));
      return;
    }
    const [character = ''] = rest;
    // Enter accepts the item of the list, and so do characters that cannot be part of a word.
    const word = /[\p{L}\p{N}_$-]*$/u.exec(before)?.[0];
    if (seen.item !== undefined && seen.item !== word && /[^\p{L}\p{N}_ ]/u.test(character)) {
      return this.#press('Escape', 'closedLists');
    }
    const there = /^ *(?:<\/[\w-]+>|\*\/)/.exec(behind)?.[0];
    if (there !== undefined && rest.startsWith(there)) {
      await this.#keys(...Array.from(there, () => 'ArrowRight'));
      return;
    }
    // A list that is about to open would take the key: a user who has written a word looks.
    if (word !== '' && this.#lastKey === word?.at(-1) && /[^\p{L}\p{N}_ ]/u.test(character)) {
      this.#lastKey = '';
      await delay(LIST_MS);
      return;
    }
    this.#lastKey = character;
    this.#row.typed += 1;
    await this.#page.keyboard.press(keyOf(character));
  }

  async #read(): Promise<Screen> {
    const { line, column } = await this.#look();
    const { file } = this.#part;
    const typed = this.#part.lines.slice(0, line).join('\n').length + column;
    await delay(this.#rhythm.gap(onScreen(file).slice(0, typed)));
    if (this.#part.name.endsWith('.html') && /[=>/]$/.test((await this.#look()).lines[line]?.slice(0, column) ?? '')) {
      await delay(CLOSING_MS);
    }
    return this.#look();
  }

  async #look(): Promise<Screen> {
    // What was typed is drawn in the next frame.
    await this.#page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    // The compiler's name helper doesn't exist in the page.
    return this.#page.evaluate(`(${readScreen})()`);
  }

  #note({ ghost, item }: Screen): void {
    if (ghost !== undefined) this.#row.ghosts += 1;
    if (item !== undefined) this.#row.lists += 1;
    if (ghost !== undefined && item !== undefined) this.#row.both += 1;
    if (ghost === undefined && item !== undefined && this.#ghostBefore) this.#row.hidden += 1;
    this.#ghostBefore = ghost !== undefined;
  }

  #isRight({ ghost, line }: Screen): boolean {
    if (ghost === undefined) return false;
    const last = line + ghost.length - 1;
    if (last > this.#end.line || (last === this.#end.line && (ghost.at(-1)?.length ?? 0) > this.#end.column))
      return false;
    return ghost.every((text, index) => {
      const wanted = this.#part.lines[line + index] ?? '';
      return index === ghost.length - 1 ? wanted.startsWith(text) && text.trim() !== '' : wanted === text.trimEnd();
    });
  }

  async #accept(seen: Screen): Promise<void> {
    const { forMs } = await ghostNow(this.#page);
    if (forMs < READING_MS) {
      await delay(READING_MS - forMs);
      if (JSON.stringify((await this.#look()).ghost) !== JSON.stringify(seen.ghost)) return;
    }
    await this.#page.keyboard.press('Tab');
    const was = JSON.stringify([seen.lines, seen.column]);
    let now = await this.#look();
    while (JSON.stringify([now.lines, now.column]) === was) now = await this.#look();
    this.#row.accepted += Math.max(0, textBefore(now).length - textBefore(seen).length);
  }

  /** All that the editor has inserted after the caret. */
  #behind({ lines, line, column }: Screen): string {
    return [lines[line]?.slice(column) ?? '', ...lines.slice(line + 1, lines.length - this.#below)].join('\n');
  }

  /** Removes what the editor has inserted and the file does not have. */
  async #tidy(behind: string): Promise<boolean> {
    if (behind === '') return false;
    await this.#press('Delete', 'closers');
    return true;
  }

  async #press(key: string, counted: 'closers' | 'indentation' | 'closedLists'): Promise<void> {
    this.#row[counted] += 1;
    await this.#page.keyboard.press(key);
  }

  async #keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }

  #lose({ lines, line, column }: Screen, off: number): boolean {
    const shown = off >= 0 ? off : line;
    const text = `${JSON.stringify(lines[shown])}, wanted ${JSON.stringify(this.#part.lines[shown])}`;
    this.#row.lost.push(`${this.#part.name}:${shown + 1} (caret ${line + 1}:${column + 1}): ${text}`);
    return false;
  }
}

/** In each second line, by hash, the user types what is suggested. */
function isIgnored(line: number): boolean {
  return hash(`ignored ${line}`) % 2 === 0;
}

function textBefore({ lines, line, column }: Screen): string {
  return [...lines.slice(0, line), lines[line]?.slice(0, column) ?? ''].join('\n');
}

/** The first closer: a character, or an end tag. */
function closerOf(text: string): string {
  return /^\s*(<\/[\w-]+>|\*\/|\S)/.exec(text)?.[1] ?? '';
}

/** True if the characters are among those to come, in this order: the user will come by. */
function isAhead(behind: string, rest: string): boolean {
  let at = 0;
  for (const character of behind.replace(/\s/g, '')) {
    at = rest.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Characters between the common start and the common end. */
function differences(text: string, expected: string): number {
  if (text === expected) return 0;
  let start = 0;
  while (start < text.length && start < expected.length && text[start] === expected[start]) start++;
  let end = 0;
  const most = Math.min(text.length, expected.length) - start;
  while (end < most && text.at(-1 - end) === expected.at(-1 - end)) end++;
  return Math.max(text.length, expected.length) - start - end;
}

/** One line a language, ours before the reference. */
export function deliveredTable(rows: readonly Delivered[]): string {
  const ordered = [...rows].sort((a, b) => (a.language < b.language ? -1 : a.language > b.language ? 1 : 0));
  return [
    '| language | who | missing | typed | accepted | requests | corrected by hand | list open: keys | of these with ghost text | ghost text hidden by the list | wrong positions |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...ordered.map((row) => {
      const corrected = row.indentation + row.closers + row.closedLists;
      const cells = [row.language, row.contestant, row.missing, row.typed, row.accepted, row.requests, corrected];
      return `| ${[...cells, row.lists, row.both, row.hidden, row.wrong].join(' | ')} |`;
    }),
  ].join('\n');
}
