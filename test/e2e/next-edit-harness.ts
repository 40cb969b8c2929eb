import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompletionHarness, startCompletionHarness } from './completion-harness.ts';
import type { VSCodeHarnessOptions } from './vscode-harness.ts';

const TOY = {
  publisher: 'test',
  name: 'toy',
  displayName: 'Toy',
  contributes: { languages: [{ id: 'toy', extensions: ['.toy'] }] },
  main: join(import.meta.dirname, 'toy-language.cjs'),
};

/** An edit is on screen for longer than the 300 ms after which Tab accepts it, also on a slow machine. */
const ARMED_MS = 1000;

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
  press(...keys: readonly string[]): Promise<void>;
  /** Removes the files of the toy language: their words would be in suggestion lists and in renames. */
  removeFiles(): void;
  /** Opens a file with a declaration in its first line, and changes the declared name. */
  rename(name: string, content: string, after: string): Promise<void>;
  /** Opens a file with the caret after `let x = brok`, at a line of its own, and types the rest. */
  breaks(name: string, content: string, fix: Fix): Promise<void>;
}

export async function startNextEditHarness(
  settings: Readonly<Record<string, unknown>> = {},
  otherExtensions: NonNullable<VSCodeHarnessOptions['otherExtensions']> = [],
): Promise<NextEditHarness> {
  const at = await startCompletionHarness({
    otherExtensions: [TOY, ...otherExtensions],
    settings: { 'editor.minimap.enabled': false, 'workbench.startupEditor': 'none', ...settings },
  });
  const { page } = at;
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const own: Omit<NextEditHarness, keyof CompletionHarness> = {
    drawn: () => page.evaluate(readDrawn),
    draws: async (...lines) => {
      await page.waitForFunction(
        ([read, wanted]) => {
          const now: readonly string[] = new Function(`return (${read})()`)();
          return JSON.parse(String(wanted)).every((line: unknown, row: number) => line === true || line === now[row]);
        },
        [`${readDrawn}`, JSON.stringify(lines)],
      );
    },
    attached: async (text) => {
      await page.waitForFunction(
        ([read, wanted = '']) => {
          const now: readonly string[] = new Function(`return (${read})()`)();
          return now.some((line) => line.includes('{+') && line.includes(wanted));
        },
        [`${readDrawn}`, text],
      );
    },
    plain: async () => {
      await page.waitForFunction((read) => {
        const now: readonly string[] = new Function(`return (${read})()`)();
        return now.every((line) => !line.includes('{+') && !line.includes('[-'));
      }, `${readDrawn}`);
    },
    armed: async () => {
      const start = await page.evaluate(() => performance.now());
      await page.waitForFunction(([from = 0, wait = 0]) => performance.now() - from > wait, [start, ARMED_MS]);
    },
    press,
    removeFiles: () => {
      for (const file of readdirSync(at.vscode.workspace)) {
        if (file.endsWith('.toy')) rmSync(join(at.vscode.workspace, file));
      }
    },
    rename: async (name, content, after) => {
      await at.edit(name, content);
      await press('ControlOrMeta+Home', 'ControlOrMeta+ArrowRight', 'ControlOrMeta+ArrowRight');
      await own.armed();
      await press('ControlOrMeta+Backspace');
      await at.type(after);
    },
    breaks: async (name, content, fix) => {
      writeFileSync(join(at.vscode.workspace, 'fix.json'), JSON.stringify(fix));
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
