/**
 * Makes src/catalog/public/snapshot.json, the catalog that ships, from a copy of https://models.dev/api.json:
 *
 *     node scripts/catalog-snapshot.ts path/to/api.json
 */
import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { fromModelsDev } from '../src/catalog/public/models-dev.ts';

/** The most used providers. A refresh adds the others. */
const PROVIDERS = `
  openai anthropic google mistral inception deepseek openrouter groq xai azure togetherai fireworks-ai cerebras
  moonshotai moonshotai-cn zai zai-coding-plan zhipuai zhipuai-coding-plan minimax minimax-cn minimax-coding-plan
  alibaba alibaba-cn nvidia huggingface kilo vercel ollama-cloud cohere perplexity deepinfra opencode
  opencode-go requesty helicone poe venice aihubmix nebius novita-ai siliconflow siliconflow-cn chutes baseten
  friendli scaleway ovhcloud digitalocean amazon-bedrock google-vertex v0 morph upstage stepfun
  stepfun-ai modelscope wandb inference io-net vultr synthetic nearai llama meta arcee ai21 kimi-code-plan-global
  kimi-code-plan-cn xiaomi volcengine tencent-tokenhub poolside cloudflare-workers-ai databricks snowflake-cortex
  stackit tinfoil regolo-ai hetzner zenmux
`
  .trim()
  .split(/\s+/);

const [input] = process.argv.slice(2);
if (input === undefined) {
  console.error('usage: node scripts/catalog-snapshot.ts path/to/api.json');
  process.exit(2);
}
const wanted = new Set(PROVIDERS);
const catalog = fromModelsDev(JSON.parse(await readFile(input, 'utf8')), (id) => wanted.has(id));
const missing = PROVIDERS.filter((id) => !(id in catalog.providers));
if (missing.length > 0) console.error(`not in the catalog: ${missing.join(', ')}`);

/** A line a provider: a difference between two snapshots can be read. */
const { providers, ...head } = catalog;
const lines = Object.entries(providers).map(([id, provider]) => `${JSON.stringify(id)}:${JSON.stringify(provider)}`);
const json = `${JSON.stringify(head).slice(0, -1)},"providers":{\n${lines.join(',\n')}\n}}\n`;
await writeFile(new URL('../src/catalog/public/snapshot.json', import.meta.url), json);
const models = Object.values(providers).reduce((sum, provider) => sum + Object.keys(provider.models).length, 0);
console.log(
  `${lines.length} providers, ${models} models, newest ${catalog.date}, ${json.length} bytes, ${gzipSync(json).length} gzipped`,
);
