import { openPages, screenshot } from '../host/workbench.ts';
import { closeEditor } from './editor.ts';

/** Keeps a picture of each page after a test that failed, and writes to the output which element had the focus. */
export const mochaHooks: Mocha.RootHookObject = {
  async afterEach(this: Mocha.Context) {
    if (this.currentTest?.state !== 'failed') return;
    const name = this.currentTest.title.replaceAll(/\W+/g, '-');
    for (const [index, page] of [...openPages].entries()) {
      // A page that hangs or was closed must not hide the failure.
      await screenshot(page, `failed-${name}-${index + 1}`).catch(() => undefined);
      const focus = page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200)).catch(() => undefined);
      console.error(`focus in window ${index + 1}: ${await focus}`);
    }
  },
  afterAll: closeEditor,
};
