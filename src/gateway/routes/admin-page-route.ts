import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { Models } from '../dispatch/models.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';

/** The views of the page. Each has an address of its own. */
const VIEWS = ['', '/', '/overview', '/keys', '/requests', '/models', '/budgets', '/replicas', '/audit'];

/** Only the page's own files, and only calls of its own gateway. No other page can show it in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.map': 'application/json',
};

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly tag: string;
}

export interface AdminPage extends Pick<Models, 'settings'> {
  /** Folder of the admin page. Absent: there is no page. */
  readonly adminPage?: string | undefined;
}

/** The admin page: a document for each view, and its scripts and styles, whose names contain a hash. */
export function adminPageRoutes(deps: AdminPage): Route[] {
  let files: ReadonlyMap<string, PageFile> | undefined;
  const find = (name: string): PageFile => {
    if (deps.settings().gateway.admin === undefined) throw turnedOff();
    files ??= readFiles(deps.adminPage);
    const file = files.get(name);
    if (file === undefined) throw missing();
    return file;
  };
  return [
    ...VIEWS.map(
      (view): Route => ({
        method: 'GET',
        path: `/admin${view}`,
        withoutVersion: true,
        handle: (context) =>
          sendFile(context, find(`admin.${languageOf(context)}.html`), {
            'cache-control': 'no-cache',
            'content-security-policy': POLICY,
            'referrer-policy': 'no-referrer',
            vary: 'Accept-Encoding, Accept-Language',
          }),
      }),
    ),
    {
      method: 'GET',
      path: '/admin/files/*',
      withoutVersion: true,
      handle: (context, params) =>
        sendFile(context, find(params['*'] ?? ''), {
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'Accept-Encoding',
        }),
    },
  ];
}

function sendFile(context: RequestContext, file: PageFile, headers: Readonly<Record<string, string>>): void {
  const tagged = { ...headers, etag: file.tag };
  const known = context.header('if-none-match')?.split(',') ?? [];
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === file.tag)) {
    context.writeHead(304, tagged).end();
    return;
  }
  const zipped = /\bgzip\b/.test(context.header('accept-encoding') ?? '');
  const body = zipped ? file.gzip : file.bytes;
  context.sendBytes(200, body, {
    ...tagged,
    'content-type': file.type,
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
}

/** The first language of the browser that the page has. */
function languageOf(context: RequestContext): 'de' | 'en' {
  const languages = (context.header('accept-language') ?? '').toLowerCase().split(',', 20);
  const known = languages.map((language) => language.trim().slice(0, 2)).find((name) => name === 'de' || name === 'en');
  return known === 'de' ? 'de' : 'en';
}

/** The shipped files are compressed with Brotli, which browsers accept only from HTTPS and their own machine. */
function readFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined) throw missing();
  return new Map(
    readdirSync(folder).map((file) => {
      const stored = readFileSync(path.join(folder, file));
      const name = file.replace(/\.br$/, '');
      const bytes = name === file ? stored : brotliDecompressSync(stored);
      const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
      return [name, { type, bytes, gzip: gzipSync(bytes, { level: 9 }), tag }];
    }),
  );
}

function turnedOff(): SvcError {
  return new SvcError({
    errorType: 'invalid_path',
    message: 'The admin page of this gateway is off.',
    action: 'Set gateway.admin to true in svc.jsonc.',
  });
}

function missing(): SvcError {
  return new SvcError({ errorType: 'invalid_path', message: 'The admin page has no such file.' });
}
