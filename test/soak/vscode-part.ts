import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { closeEditor } from '../e2e/editor.ts';
import { startVSCodeHarness, type VSCodeHarness } from '../e2e/vscode-harness.ts';
import { openFile, runCommand, webviewFrame } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream } from '../upstream/upstream.ts';
import { atLeast, atMost, count, random, type SoakPart, type SoakRow } from './part.ts';
import { extensionHost, type Vitals, vitalsOf } from './process-vitals.ts';

type Weather = 'fine' | 'offline' | 'out-of-credit';
const SPELLS: readonly Weather[] = ['fine', 'fine', 'offline', 'fine', 'fine', 'out-of-credit'];
/** Rounds of one spell: what is open in it has time to end. */
const ROUNDS = 4;
const LINES = ['const total =', 'let found =', 'return limit *', '// and then'];
const ANSWER = 'A list:\n\n1. one\n2. two\n\n```ts\nconst a = 1;\n```\n';

interface Figures {
  rounds: number;
  keys: number;
  accepted: number;
  answers: number;
  readonly vain: { keys: number; requests: number };
}

/** Typing, accepting, chatting and new conversations in a real VS Code, with changing network faults. */
export const vscodePart: SoakPart = {
  name: 'vscode',
  run: async ({ seconds, seed, scale, progress }) => {
    let weather: Weather = 'fine';
    const figures: Figures = { ...start(), vain: { keys: 0, requests: 0 } };
    const upstream = await startUpstream((request, response) => {
      if (request.method === 'POST' && weather !== 'fine' && request.path.includes('/fim/')) figures.vain.requests += 1;
      answer(weather, request, response);
    });
    const connection = { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim` };
    const provider = { model: { name: 'Model', fim: 'mistral', options: connection, models: { coder: {} } } };
    const harness = await startVSCodeHarness({
      config: { provider, model: 'model/coder', completionModel: 'model/coder' },
    });
    try {
      const editor = await SoakUser.sitDown(harness, figures, seed);
      const until = Date.now() + seconds * 1000;
      const least = scale === 'short' ? 1 : SPELLS.length * ROUNDS * 2;
      let warm: Vitals | undefined;
      while (figures.rounds < least || Date.now() < until) {
        const next = SPELLS[Math.floor(figures.rounds / ROUNDS) % SPELLS.length] ?? 'fine';
        if (next === 'fine' && weather !== 'fine') {
          weather = next;
          await editor.triesAgain();
        }
        weather = next;
        await editor.works(weather);
        // Each network state has occurred once.
        if (figures.rounds === SPELLS.length * ROUNDS) warm = await vitalsOf(extensionHost());
        if (figures.rounds % 10 === 0) progress(`${figures.rounds} rounds`);
      }
      const last = await vitalsOf(extensionHost());
      const popups = await editor.page.locator('.notification-toast').count();
      return [...rows(figures, popups, await upstream.sockets()), ...grown(warm ?? last, last)];
    } finally {
      await harness.close();
      await closeEditor();
      await upstream.close();
    }
  },
};

function start() {
  return { rounds: 0, keys: 0, accepted: 0, answers: 0 };
}

function rows(figures: Figures, popups: number, sockets: number): SoakRow[] {
  const { vain } = figures;
  return [
    count('rounds', figures.rounds),
    count('keys', figures.keys),
    atLeast('suggestions accepted', figures.accepted, 1),
    atLeast('answers in chat', figures.answers, 1),
    atMost('requests a key while offline or out of credit', vain.requests / Math.max(1, vain.keys), 0.1),
    atMost('popups', popups, 0),
    atMost('connections open at the end', sockets, 8),
  ];
}

function grown(warm: Vitals, last: Vitals): SoakRow[] {
  return [
    atMost('heap of the extension host grown since it was warm', Math.max(0, last.heap - warm.heap), 8, ' MB'),
    atMost('open files of the extension host grown since it was warm', Math.max(0, last.files - warm.files), 8),
  ];
}

/** At the keyboard. */
class SoakUser {
  readonly page: Page;
  readonly #desk: VSCodeHarness;
  readonly #figures: Figures;
  readonly #dice: () => number;
  readonly #panel: Frame;

  private constructor(harness: VSCodeHarness, page: Page, panel: Frame, figures: Figures, seed: number) {
    this.#desk = harness;
    this.page = page;
    this.#panel = panel;
    this.#figures = figures;
    this.#dice = random(seed);
  }

  static async sitDown(harness: VSCodeHarness, figures: Figures, seed: number): Promise<SoakUser> {
    const page = await harness.open();
    writeFileSync(join(harness.workspace, 'soak.ts'), '');
    await page.locator('.statusbar-item[aria-label^="Svc: Completions by"]').first().waitFor();
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await openFile(page, join(harness.workspace, 'soak.ts'));
    return new SoakUser(harness, page, panel, figures, seed);
  }

  async works(weather: Weather): Promise<void> {
    await this.#types(weather);
    if (this.#dice() < 0.5) await this.#chats(weather);
    if (this.#dice() < 0.2) await this.#startsAfresh();
    this.#figures.rounds += 1;
  }

  /** A line, and Tab where a suggestion shows up. */
  async #types(weather: Weather): Promise<void> {
    const { page } = this;
    const line = LINES[Math.floor(this.#dice() * LINES.length)] ?? '';
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type(line, { delay: 25 });
    this.#figures.keys += line.length;
    if (weather !== 'fine') this.#figures.vain.keys += line.length;
    else {
      const ghost = page.locator('.ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text').first();
      await ghost.waitFor();
      await page.keyboard.press('Tab');
      this.#figures.accepted += 1;
    }
    // Dismiss the suggestion after the accepted one.
    await page.keyboard.press('Escape');
  }

  async #chats(weather: Weather): Promise<void> {
    const box = this.#panel.locator('.composer textarea');
    const answers = this.#panel.locator('.message.assistant[aria-busy="false"]');
    const before = await answers.count();
    await box.fill(`What is ${this.#figures.rounds}?`);
    await box.press('Enter');
    await answers.nth(before).waitFor();
    if (weather === 'fine') this.#figures.answers += 1;
    await this.#backToCode();
  }

  /** A new file and a new conversation: memory of the old ones must be released. */
  async #startsAfresh(): Promise<void> {
    await runCommand(this.page, 'Svc: New Conversation');
    await this.#panel.locator('.message').first().waitFor({ state: 'detached' });
    // The composer takes the focus last; Quick Open would close again.
    await this.#panel.locator('.composer textarea:focus').waitFor();
    await this.#backToCode();
    await this.page.keyboard.press('ControlOrMeta+A');
    await this.page.keyboard.press('Delete');
  }

  async #backToCode(): Promise<void> {
    await openFile(this.page, join(this.#desk.workspace, 'soak.ts'));
  }

  /** Uses the menu of the status bar, which shows errors. */
  async triesAgain(): Promise<void> {
    await this.page.locator('[id="svc.svc.svc.completion"] a').first().click();
    const again = this.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Try again' });
    await this.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    if ((await again.count()) > 0) await again.click();
    else await this.page.keyboard.press('Escape');
    await this.#backToCode();
  }
}

function answer(weather: Weather, request: ReceivedRequest, response: ServerResponse): void {
  if (weather === 'offline') {
    response.destroy();
    return;
  }
  const json = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (request.method !== 'POST') return json(200, { object: 'list', data: [{ id: 'coder', object: 'model' }] });
  if (weather === 'out-of-credit') return json(402, { error: { message: 'No credit is left.' } });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const fim = request.path.includes('/fim/');
  const frame = (delta: object, finish: string | null) => {
    const object = fim ? 'fim.completion.chunk' : 'chat.completion.chunk';
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(`data: ${JSON.stringify({ id: 'x', object, model: 'coder', choices })}\n\n`);
  };
  // Never the line above once more: that is not shown.
  const fimRequest = [' ready', `${request.occurrence} + 1;`];
  for (const piece of fim ? fimRequest : (ANSWER.match(/.{1,4}/gs) ?? [])) frame({ content: piece }, null);
  frame({}, 'stop');
  response.end('data: [DONE]\n\n');
}
