import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { isPublicAddress } from '../../src/base/public-address.ts';
import { htmlText } from '../../src/chat/tools/web/html-text.ts';
import { type WebOptions, webAddress } from '../../src/chat/tools/web/web-address.ts';
import { readWebPage } from '../../src/chat/tools/web/web-page.ts';
import { assertLinear } from '../linear-time.ts';

describe('addresses of web pages', () => {
  const PRIVATE = [
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '0.0.0.0'],
    ...[
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '2002:7f00:1::',
    ],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '64:ff9b::7f00:1',
      '2001:db8::1',
      'fe80::1%eth0',
      'localhost',
      '',
      '1.2.3',
    ],
  ];
  for (const address of PRIVATE) {
    it(`web page: ${address || '(empty)'} is not public`, () => assert.equal(isPublicAddress(address), false));
  }
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111']) {
    it(`web page: ${address} is public`, () => assert.equal(isPublicAddress(address), true));
  }

  const REFUSED = [
    ...['http://127.0.0.1/', 'http://[::1]:80/', 'http://0x7f.1/', 'http://2130706433/', 'http://017700000001/'],
    ...['file:///etc/passwd', 'ftp://example.com', 'javascript:alert(1)', 'nonsense', 'http://a:b@example.com/'],
    ...['http://[::ffff:7f00:1]/', 'https://169.254.169.254/latest', 'data:text/plain,x', 'http://127.1'],
  ];
  for (const written of REFUSED) {
    it(`web page: the address ${written} is refused before anyone is asked`, () => {
      assert.throws(() => webAddress(written));
    });
  }
});

describe('web pages', () => {
  let server: Server;
  let origin: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Names that resolve to the test server, as if they were public, and one that is private. */
  const options: WebOptions = {
    permits: (address) => address === '127.0.0.1',
    resolve: ((host: string, _options: unknown, done: (...args: unknown[]) => void) =>
      done(null, [{ address: host === 'inner.test' ? '10.0.0.1' : '127.0.0.1', family: 4 }])) as never,
  };
  const read = (path: string) => readWebPage(`${origin}${path}`, new AbortController().signal, options);

  before(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    origin = `http://public.test:${address.port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('web page: HTML is read as text', async () => {
    answer = (_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end('<title>T</title><h1>Head</h1><p>One&amp;two <b>bold</b></p><script>bad()</script>');
    };
    assert.equal(await read('/a?b=c'), `${origin}/a?b=c\nT\n\n# Head\n\nOne&two bold`);
  });

  it('web page: compressed and other texts are read, other files are refused', async () => {
    answer = (request, response) => {
      if (request.url === '/json') {
        response.setHeader('content-encoding', 'gzip');
        response.setHeader('content-type', 'application/json');
        response.end(gzipSync('{"a":1}'));
      } else {
        response.setHeader('content-type', 'image/png');
        response.end('x');
      }
    };
    assert.match(await read('/json'), /\{"a":1\}$/);
    await assert.rejects(read('/png'), /is image\/png, not text/);
  });

  it('web page: a redirect within the origin is followed, another one is returned', async () => {
    answer = (request, response) => {
      const targets: Record<string, string> = { '/a': '/b', '/c': 'http://other.test/x', '/d': 'http://10.0.0.1/' };
      const target = targets[request.url ?? ''];
      response.writeHead(target === undefined ? 200 : 302, target === undefined ? {} : { location: target });
      response.end('end');
    };
    assert.match(await read('/a'), /\/b\n\nend$/);
    assert.match(await read('/c'), /redirects to http:\/\/other\.test\/x\. Call fetch_web_page/);
    await assert.rejects(read('/d'), /10\.0\.0\.1 is not a public address/);
  });

  it('web page: endless redirects end', async () => {
    answer = (_request, response) => response.writeHead(302, { location: '/' }).end();
    await assert.rejects(read('/'), /redirects more than 5 times/);
  });

  it('web page: a name that resolves to a private address is refused', async () => {
    const signal = new AbortController().signal;
    await assert.rejects(readWebPage('http://inner.test/', signal, options), (error: Error) =>
      /not on the public internet/.test(`${error.message} ${error.cause}`),
    );
    await assert.rejects(readWebPage('http://localhost:1/', signal), /not on the public internet/);
  });

  it('web page: a large page is cut', async () => {
    answer = (_request, response) => response.end('x'.repeat(5_000_000));
    const text = await read('/');
    assert.match(text, /larger than 3 MB/);
    assert.ok(text.length < 3_200_000);
  });

  it('web page: Stop closes the connection', async () => {
    const stop = new AbortController();
    const closed = new Promise((resolve) => {
      answer = (request, _response) => {
        request.on('close', resolve);
        stop.abort();
      };
    });
    await assert.rejects(readWebPage(`${origin}/`, stop.signal, options));
    await closed;
  });
});

describe('text of HTML', () => {
  const CASES: readonly [html: string, text: string][] = [
    ['<ul><li>a<li>b</ul>', '- a\n- b'],
    ['<pre>a\n  b</pre>', '```\na\n  b\n```'],
    ['<a href="https://x.example/">x</a> <a href="javascript:y">y</a>', 'x (https://x.example/) y'],
    ['a<br>b<style>c</style>&lt;d&gt;&#x41;', 'a\nb<d>A'],
    ['<table><tr><td>a<td>b</table>', ' | a | b'],
    ['<script><p>no</script>yes', 'yes'],
  ];
  for (const [html, text] of CASES) {
    it(`html: ${html}`, () => assert.equal(htmlText(html).text, text.trim()));
  }

  it('html: hostile pages take linear time', async () => {
    for (const piece of ['<', '<a ', '<div>', '<!--', '&', '<script>', '</', '<a href="', '  \n'])
      await assertLinear(20_000, (size) => piece.repeat(size), htmlText);
  });
});
