import { arrayOrEmpty, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';

/*
 * Content blocks of tools that ran at Anthropic, and of its other features. Other vendors refuse them. The calls are left
 * out, their results become text.
 */

/** Blocks of the assistant that only state that a tool was called. */
const CALLS: ReadonlySet<string> = new Set(['server_tool_use', 'mcp_tool_use']);

/** Blocks that other vendors read too. */
const SHARED: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'search_result',
  'tool_reference',
]);

/** Whether the block is of a tool that ran at the vendor, or of another feature of the vendor. */
export function isVendorBlock({ type }: JsonObject): boolean {
  const name = String(type);
  return CALLS.has(name) || /._tool_result$/.test(name) || name === 'compaction' || name === 'container_upload';
}

/** As `isVendorBlock`, and each block of an answer that is not known: new features of the vendor (`fallback`) have some. */
export function isVendorAnswer(block: JsonObject): boolean {
  return isVendorBlock(block) || (typeof block.type === 'string' && !SHARED.has(block.type));
}

/** The content of the block for a model; undefined if there is none. */
export function textOfVendorBlock(block: JsonObject): string | undefined {
  const type = String(block.type);
  if (type === 'compaction') return summaryOf(block);
  if (type === 'container_upload') return 'A file was uploaded.';
  if (CALLS.has(type)) return undefined;
  if (!isVendorBlock(block)) return nonEmptyString(block.text) ?? nonEmptyString(block[type]);
  const said = textOf(block.content).trim();
  return said === '' ? undefined : `[${type.replace(/_tool_result$/, '').replaceAll('_', ' ')}]\n${said}`;
}

/** The summary that replaces all earlier messages (Anthropic, "Compaction"). Undefined if the compaction failed. */
export function summaryOf(block: JsonObject): string | undefined {
  const summary = block.type === 'compaction' ? textOf(block.content).trim() : '';
  return summary === '' ? undefined : `Summary of the conversation so far:\n\n${summary}`;
}

/** A result of the client's own search (Anthropic, "Search results"). */
export function textOfSearchResult(block: JsonObject): string {
  const head = [nonEmptyString(block.title), nonEmptyString(block.source)].filter((part) => part !== undefined);
  return [head.join(' – '), textOf(block.content)].filter((part) => part !== '').join('\n');
}

/** The readable members of the results, in order: titles, addresses, texts, outputs of code and errors. */
const READABLE = ['title', 'url', 'text', 'stdout', 'stderr', 'tool_name', 'file_id', 'error_code'] as const;
/** Members with further results. */
const INNER = ['content', 'source', 'tool_references', 'lines'] as const;
/** A hostile body can be nested deeply. */
const MAX_DEPTH = 8;

function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) return joinLines(value.map((item) => textOf(item, depth + 1)));
  if (!isObject(value)) return '';
  const own = READABLE.map((name) => nonEmptyString(value[name]) ?? '');
  const source = objectOrEmpty(value.source);
  const document = source.type === 'text' ? (nonEmptyString(source.data) ?? '') : '';
  const inner = INNER.map((name) =>
    isObject(value[name]) || Array.isArray(value[name]) ? textOf(value[name], depth + 1) : '',
  );
  const content = typeof value.content === 'string' ? value.content : '';
  return joinLines([...own, content, document, ...inner]);
}

function joinLines(texts: readonly string[]): string {
  return arrayOrEmpty(texts)
    .filter((text) => text !== '')
    .join('\n');
}
