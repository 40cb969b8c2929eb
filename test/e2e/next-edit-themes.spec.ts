import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPage } from '../host/person.ts';
import { ARTIFACTS, runCommand, screenshot, typeInList } from '../host/workbench.ts';
import { type Frame, writeAnimation } from './animation.ts';
import { type NextEditHarness, startNextEditHarness } from './next-edit-harness.ts';

const THEMES: Readonly<Record<string, string>> = {
  dark: 'Dark Modern',
  light: 'Light Modern',
  'high-contrast': 'Dark High Contrast',
  'high-contrast-light': 'Light High Contrast',
};

const CODE = `let total = price(items)
if (total > limit) {
  reject(total)
}
let x = brok`;

const NAMES = `export const userName = 'Ada';

export function greet(): string {
  return \`Hello \${userName}\`;
}

console.log(userName, greet());
`;

const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images');

describe('pictures of next edits', () => {
  let at: NextEditHarness;

  before(async () => {
    at = await startNextEditHarness({
      'workbench.activityBar.location': 'hidden',
      'editor.cursorBlinking': 'solid',
      'editor.lightbulb.enabled': 'off',
    });
  });
  after(() => at?.close());

  // The picture of the README has the theme that VS Code has before another is chosen.
  describe('the animated picture of next edits', () => {
    const frames: Frame[] = [];

    const frame = async (milliseconds: number) => {
      const file = join(ARTIFACTS, `next-edit-frame-${frames.length}.png`);
      const box = await at.page.locator('.editor-instance').first().boundingBox();
      assert.ok(box);
      await at.page.screenshot({ path: file, clip: { x: box.x, y: box.y, width: 700, height: 200 } });
      frames.push({ file, milliseconds });
    };

    it('next edits: rename and import in TypeScript, as the README shows', async () => {
      mkdirSync(ARTIFACTS, { recursive: true });
      const math = 'export function average(...values: number[]): number {\n  return values.length;\n}\n';
      writeFileSync(join(at.vscode.workspace, 'math.ts'), math);
      writeFileSync(join(at.vscode.workspace, 'tsconfig.json'), '{}');
      await at.edit('name.ts', NAMES);
      // Errors of this kind are reported when the language server has read the project.
      await at.type('missing');
      await at.page.locator('.squiggly-error').first().waitFor();
      await at.press('ControlOrMeta+Backspace', 'ControlOrMeta+S', 'ControlOrMeta+Home');
      await at.press(...Array.from({ length: 3 }, () => 'ControlOrMeta+ArrowRight'));
      // The language server answers in order, and was asked for the places of the name before.
      await at.settles();
      await at.page.locator('.view-overlays [class*="wordHighlight"]').first().waitFor();
      await frame(1200);
      await at.press('ControlOrMeta+Backspace');
      for (const part of ['log', 'inN', 'ame']) {
        await at.type(part);
        await frame(180);
      }
      await at.attached('Tab: rename to loginName');
      await frame(2200);
      await at.armed();
      await at.press('Tab');
      await at.plain();
      await frame(1500);
      await at.press('ControlOrMeta+End');
      for (const part of ['average', '(1, 2)', ';']) {
        await at.type(part);
        await frame(180);
      }
      await at.attached('Tab: ');
      await frame(2200);
      await at.armed();
      await at.press('Tab');
      await at.plain();
      await frame(1800);
      assert.match((await at.drawn()).join('\n'), /import \{ average \} from/);
      const picture = join(process.env.SVC_DOCS_IMAGES ? IMAGES : ARTIFACTS, 'next-edit.png');
      writeAnimation(picture, frames);
    });
  });

  describe('next edits in four themes', () => {
    before(async () => {
      await at.page.setViewportSize({ width: 900, height: 420 });
      await at.press('ControlOrMeta+B');
    });

    for (const [name, theme] of Object.entries(THEMES)) {
      it(`next edits: draw words, lines and the label in ${theme}`, async () => {
        const row = at.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${theme}"]`).first();
        await runCommand(at.page, 'Preferences: Color Theme');
        await typeInList(at.page, theme);
        await row.click();
        await at.rename(
          `words-${name}.toy`,
          'let userName = 1\nprint(userName)\nprint(userName, userName + 2)\n',
          'userId',
        );
        await at.attached('Tab: rename');
        await screenshot(at.page, `next-edit-words-${name}`);
        const text = 'if (total > limit && !trusted) {\n  warn(total)\n  reject(total, reason(total))';
        await at.breaks(`lines-${name}.toy`, CODE, { title: 'Check trust', range: [1, 0, 2, 15], text });
        await at.attached('Tab: Check');
        await screenshot(at.page, `next-edit-lines-${name}`);
        await at.press('ArrowUp', 'ArrowUp', 'End');
        await screenshot(at.page, `next-edit-near-${name}`);
        // Removed and new text differ in more than colour. A colour that the theme lacks would be transparent.
        const styles = await inPage(at.page, 'text that CSS adds is in no element', () => {
          const spans = [...document.querySelectorAll('.editor-instance .view-line > span > span')];
          const readAttached = (text: string) => {
            const found = spans
              .map((each) => getComputedStyle(each, '::after'))
              .find((each) => each.content.includes(text));
            return found?.color;
          };
          const struck = spans.some((each) => getComputedStyle(each).textDecorationLine === 'line-through');
          return { struck, added: readAttached('trusted'), label: readAttached('Tab:') };
        });
        assert.ok(styles.struck);
        for (const shown of [styles.added, styles.label]) assert.doesNotMatch(shown ?? '0)', / 0\)|^0/);
      });
    }
  });
});
