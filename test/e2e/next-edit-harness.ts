import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPage } from '../host/person.ts';
import { LOOK_AGAIN } from '../host/workbench.ts';
import { type CompletionHarness, startCompletionHarness } from './completion-harness.ts';
import type { VSCodeHarnessOptions } from './vscode-harness.ts';

const TOY = {
  publisher: 'test',
  name: 'toy',
  displayName: 'Toy',
  contributes: {
    languages: [{ id: 'toy', extensions: ['.toy'] }],
    commands: [{ command: 'toy.armed', title: 'Tab accepts a next edit', icon: '$(check)' }],
    menus: { 'editor/title': [{ command: 'toy.armed', when: 'svc.nextEdit.armed', group: 'navigation' }] },
  },
  main: join(import.meta.dirname, 'toy-language.cjs'),
};

/** Time for an edit that must not appear, and longer than the 300 ms after which Tab accepts one. */
const SETTLED_MS = 1000;

/** The quick fix that the toy language offers. */
interface Fix {
  readonly title: string;
  readonly range: readonly [number, number, number, number];
  readonly text: string;
}

/** A real editor with a language that has renames and quick fixes. */
export interface NextEditHarness extends CompletionHarness {
  /** The visible lines: `[-removed-]`, and `{+text+}` for what is attached to a line. */
  drawn(): Promise<readonly string[]>;
  /** Waits until the lines are drawn so. `true` for a line that does not matter. */
  draws(...lines: readonly (string | true)[]): Promise<void>;
  /** Waits until text that contains this is attached to a line. */
  attached(text: string): Promise<void>;
  /** Waits until nothing is attached and nothing removed. */
  plain(): Promise<void>;
  /** Waits until Tab accepts what is on screen. */
  armed(): Promise<void>;
  /** Waits as long as an edit would need to appear. */
  settles(): Promise<void>;
  press(...keys: readonly string[]): Promise<void>;
  /** Removes the files of the toy language: their words would be in suggestion lists and in renames. */
  removeFiles(): void;
  /** Opens a file that declares a name after `let` in its first line, with the caret behind the name. */
  openName(file: string, content: string): Promise<void>;
  /** Waits until the language was asked for the places of a name. What is typed earlier changes its answer. */
  knows(file: string, name: string): Promise<void>;
  /** Opens such a file, and changes the name. */
  rename(file: string, content: string, after: string): Promise<void>;
  /** Sets the quick fix of the next error. */
  offers(fix: Fix): void;
  /** Opens a file with the caret after `let x = brok`, at a line of its own, and types the rest. */
  breaks(name: string, content: string, fix: Fix): Promise<void>;
}

export async function startNextEditHarness(
  settings: Readonly<Record<string, unknown>> = {},
  otherExtensions: NonNullable<VSCodeHarnessOptions['otherExtensions']> = [],
): Promise<NextEditHarness> {
  const at = await startCompletionHarness({
    otherExtensions: [TOY, ...otherExtensions],
    settings: {
      'editor.minimap.enabled': false,
      'workbench.startupEditor': 'none',
      ...settings,
    },
  });
  const { page } = at;
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const own: Omit<NextEditHarness, keyof CompletionHarness> = {
    drawn: () => inPage(page, 'text that CSS adds is in no element', readDrawn),
    draws: async (...lines) => {
      await page.waitForFunction(
        ([read, wanted]) => {
          const now: readonly string[] = new Function(`return (${read})()`)();
          return JSON.parse(String(wanted)).every((line: unknown, row: number) => line === true || line === now[row]);
        },
        [`${readDrawn}`, JSON.stringify(lines)],
        LOOK_AGAIN,
      );
    },
    attached: async (text) => {
      await page.waitForFunction(
        ([read, wanted = '']) => {
          const now: readonly string[] = new Function(`return (${read})()`)();
          return now.some((line) => line.includes('{+') && line.includes(wanted));
        },
        [`${readDrawn}`, text],
        LOOK_AGAIN,
      );
    },
    plain: async () => {
      await page.waitForFunction(
        (read) => {
          const now: readonly string[] = new Function(`return (${read})()`)();
          return now.every((line) => !line.includes('{+') && !line.includes('[-'));
        },
        `${readDrawn}`,
        LOOK_AGAIN,
      );
    },
    armed: async () => {
      // The button of the edit before it may still be visible.
      await own.settles();
      await page.locator('.editor-actions .action-label[aria-label="Tab accepts a next edit"]').first().waitFor();
    },
    settles: async () => {
      const start = await inPage(page, 'times are measured in the page', () => performance.now());
      const passed = ([from = 0, wait = 0]: readonly number[]) => performance.now() - from > wait;
      await page.waitForFunction(passed, [start, SETTLED_MS], LOOK_AGAIN);
    },
    press,
    removeFiles: () => {
      for (const file of readdirSync(at.vscode.workspace)) {
        if (file.endsWith('.toy')) rmSync(join(at.vscode.workspace, file));
      }
    },
    openName: async (file, content) => {
      await at.edit(file, content);
      await press('ControlOrMeta+Home', 'ControlOrMeta+ArrowRight', 'ControlOrMeta+ArrowRight');
    },
    knows: (file, name) => page.locator('.statusbar-item', { hasText: `${file} ${name}` }).waitFor(),
    rename: async (file, content, after) => {
      await own.openName(file, content);
      await own.knows(file, /^let (\w+)/.exec(content)?.[1] ?? '');
      await press('ControlOrMeta+Backspace');
      await at.type(after);
    },
    offers: (fix) => writeFileSync(join(at.vscode.workspace, 'fix.json'), JSON.stringify(fix)),
    breaks: async (name, content, fix) => {
      own.offers(fix);
      await at.edit(name, content);
      await at.type('en');
    },
  };
  // The same object: its server reads `answer`.
  return Object.assign(at, own);
}

/** Runs in the page. */
function readDrawn(): readonly string[] {
  const lines = [...document.querySelectorAll<HTMLElement>('.editor-instance .view-lines .view-line')];
  const top = (line: HTMLElement) => Number.parseFloat(line.style.top);
  lines.sort((a, b) => top(a) - top(b));
  return lines.map((line) => {
    let text = '';
    for (const span of line.querySelectorAll<HTMLElement>(':scope > span > span')) {
      const part = span.textContent ?? '';
      const removed = getComputedStyle(span).textDecorationLine.includes('line-through');
      text += removed && part !== '' ? `[-${part}-]` : part;
      const { content } = getComputedStyle(span, '::after');
      if (content.startsWith('"') && content !== '""') text += `{+${JSON.parse(content)}+}`;
    }
    return text.replaceAll('\u00a0', ' ').replaceAll('-][-', '');
  });
}
