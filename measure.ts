import { createServer } from 'node:http';
import { launchChromium } from './test/host/chromium.ts';
const html = (kind: string) => `<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-n'; style-src 'unsafe-inline'; ${kind === 'blob' ? 'frame-src blob:' : ''}"><body><script nonce="n">
window.ticks=0; setInterval(()=>{ticks++},20);
window.begin=(sandbox)=>{const f=document.createElement('iframe'); if(sandbox!==null) f.setAttribute('sandbox',sandbox);
 const inner='<!doctype html><script nonce="n">parent.postMessage("up","*"); onmessage=()=>{ parent.postMessage("loop","*"); const t=performance.now(); while(performance.now()-t<20000); }<\\/script>';
 addEventListener('message',e=>{window.last=e.data; if(e.data==='up') f.contentWindow.postMessage('go','*')});
 if('${kind}'==='blob') f.src=URL.createObjectURL(new Blob([inner],{type:'text/html'})); else f.srcdoc=inner;
 document.body.append(f); window.f=f;};
</script>`;
const server = createServer((req, res) => { res.setHeader('content-type', 'text/html'); res.end(html(new URL(req.url!, 'http://x').searchParams.get('kind') ?? '')); });
await new Promise<void>((r) => server.listen(0, '127.0.0.1', r));
const port = (server.address() as any).port;
const browser = await launchChromium();
console.log(browser.version());
for (const kind of ['srcdoc', 'blob']) for (const sandbox of [null, 'allow-scripts']) {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/?kind=${kind}`);
  await page.evaluate((s) => (window as any).begin(s), sandbox);
  await page.waitForFunction(() => (window as any).last === 'loop', null, { timeout: 30000 }).catch((e) => console.log('no loop', String(e).slice(0, 80)));
  const t = performance.now();
  const a = await page.evaluate(() => (window as any).ticks);
  const b = await page.evaluate(() => new Promise((r) => setTimeout(() => r((window as any).ticks), 1000)));
  console.log(kind, sandbox, 'ticks in 1s', (b as number) - a, 'took', Math.round(performance.now() - t));
  const { execSync } = await import('node:child_process');
  const cpu = () => execSync(`ps -eo pid,ppid,pcpu,args | grep 'type=renderer' | grep -v grep | awk '{print $1":"$3}'`).toString().trim().replace(/\n/g, ' ');
  console.log('  before removal', cpu());
  await page.evaluate(() => (window as any).f.remove());
  await new Promise((r) => setTimeout(r, 1500));
  console.log('  after removal', cpu());
  await page.close();
}
await browser.close(); server.close();
