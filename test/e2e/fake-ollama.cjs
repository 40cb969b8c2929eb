// Stands for Ollama on the PATH: `serve` answers as Ollama does, `pull` makes a model known. Its folder has its state.
const { existsSync, mkdirSync, readdirSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { join } = require('node:path');

const [, , command, model] = process.argv;
const models = join(process.env.FAKE_OLLAMA, 'models');
mkdirSync(models, { recursive: true });

function send(response, body) {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

async function answer(request, response) {
  let text = '';
  for await (const chunk of request) text += chunk;
  const names = readdirSync(models).map(decodeURIComponent);
  const { pathname } = new URL(request.url, 'http://ollama');
  if (pathname === '/v1/models') return send(response, { data: names.map((id) => ({ id, object: 'model' })) });
  if (pathname === '/api/ps') return send(response, { models: [] });
  if (pathname === '/api/show') return send(response, { parameters: `num_ctx ${process.env.OLLAMA_CONTEXT_LENGTH}` });
  if (pathname !== '/api/generate') return response.writeHead(404).end('{}');
  // Without a prompt, the model is only loaded.
  if (JSON.parse(text).prompt === undefined) return send(response, { done: true, done_reason: 'load' });
  writeFileSync(join(process.env.FAKE_OLLAMA, 'request.json'), text);
  response.setHeader('content-type', 'application/x-ndjson');
  response.write(`${JSON.stringify({ response: 'sum / numbers', done: false })}\n`);
  return response.end(`${JSON.stringify({ response: '.length;', done: true, done_reason: 'stop' })}\n`);
}

if (command === 'serve') {
  writeFileSync(join(process.env.FAKE_OLLAMA, 'pid'), `${process.pid}`);
  const { port } = new URL(`http://${process.env.OLLAMA_HOST}`);
  createServer(answer).listen(Number(port), '127.0.0.1', () => console.log(`Listening on 127.0.0.1:${port}`));
} else if (command === 'pull' && existsSync(join(process.env.FAKE_OLLAMA, 'pid'))) {
  console.log(`pulling ${model}: 100%`);
  writeFileSync(join(models, encodeURIComponent(model.includes(':') ? model : `${model}:latest`)), '');
} else {
  console.error('Error: could not connect to ollama server, run `ollama serve`');
  process.exit(1);
}
