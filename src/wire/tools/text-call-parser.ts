import { isObject, type JsonObject, objectOrEmpty, ownEntry, parseJson } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import type { Tool } from '../conversation.ts';

/** A call that a model wrote into the text of its answer. */
export interface TextCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** `no`: it is no call, whatever follows. `more`: it may become one. */
type Read<T> = 'no' | 'more' | (T & { readonly at: number });

/**
 * Tokens that begin calls. Qwen and Hermes: `<tool_call>`; Qwen3-Coder and Llama: `<function=`; Mistral: `[TOOL_CALLS]`;
 * Llama: `<|python_tag|>`, `<|python_start|>`; Kimi: `<|tool_calls_section_begin|>`; Granite and Phi: `<|tool_call|>`, `functools`; DeepSeek: `<｜tool▁calls▁begin｜>`; MiniMax and
 * DeepSeek-V3.2: `<invoke` in a tag of their own; Gemma 4: `<|tool_call>`; Qwen2.5-Coder: `<tools>`; LM Studio: `[TOOL_REQUEST]`; gpt-oss: channels
 * (openai/harmony).
 */
const WRAPPERS = splitWords(`
  <tool_call> <|tool_call|> <|tool_call> <function_call> <tool_calls> [TOOL_CALLS] <|python_tag|> functools
  <tools> [TOOL_REQUEST] <seed:tool_call> <minimax:tool_call> <function_calls> <｜DSML｜function_calls> <｜tool▁calls▁begin｜> <｜tool▁call▁begin｜>
  <|tool_calls_section_begin|> <|tool_call_section_begin|> <|tool_call_begin|> <|python_start|>
`);
const FUNCTION = '<function=';
const INVOKES = ['<invoke name="', '<｜DSML｜invoke name="'];
/** Channels of servers that drop special tokens, as in reasoning-tags.ts. */
const BARE_CHANNELS = ['commentary to=functions.', 'assistantcommentary to=functions.'];
const CHANNELS = ['<|channel|>commentary', '<|start|>assistant', '<|channel|>analysis to=', ...BARE_CHANNELS];
/** Texts with which a call may begin after other text. */
export const CALL_OPENINGS: readonly string[] = [...WRAPPERS, FUNCTION, ...INVOKES, ...CHANNELS];
/** Texts that may follow a call. Small models close one object too many. */
const CLOSINGS = splitWords(`
  </tool_call> <|/tool_call|> <tool_call|> </function_call> </tool_calls> </minimax:tool_call> </function_calls>
  </｜DSML｜function_calls> <｜tool▁call▁end｜> <｜tool▁calls▁end｜> </function> <|im_end|> <|eot_id|> <|eom_id|> <|call|>
  <|end|> <|return|> <|end_of_text|> </s> <｜end▁of▁sentence｜> <|tool_response> </tools> [END_TOOL_REQUEST] </seed:tool_call>
  <|tool_call_end|> <|tool_calls_section_end|> <|tool_call_section_end|> <|python_end|> <|eom|> <|eot|> ; , }
`);
const KIMI_ARGUMENTS = '<|tool_call_argument_begin|>';
const SEPARATOR = '<｜tool▁sep｜>';
/** Members with which an object that is a call may begin. */
const FIRST_MEMBERS = ['name', 'function', 'type', 'id', 'arguments', 'parameters', 'tool', 'tool_name', 'tool_calls'];
const NAME = /[\w.:/-]{1,128}/y;

/** Reads a text that consists of calls and nothing else. */
export class TextCallParser {
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Closing tags and braces may be missing. */
  #lenient = false;

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /**
   * @param whole the text is the whole answer, so that it may be JSON without a tag.
   * @param ended nothing follows, so that a closing tag that is missing is not awaited (ollama/ollama#18563).
   * @returns the calls if the text is complete.
   */
  parse(text: string, whole: boolean, ended = false): 'no' | 'more' | readonly TextCall[] {
    this.#lenient = false;
    const calls = this.#parse(text, whole);
    if (!ended || calls !== 'more') return calls;
    this.#lenient = true;
    return this.#parse(text, whole);
  }

  #parse(text: string, whole: boolean): 'no' | 'more' | readonly TextCall[] {
    const calls: TextCall[] = [];
    let at = skipBlank(text, 0);
    if (whole) {
      const bare = this.#bare(text, at);
      if (bare === 'no' || bare === 'more') return bare;
      calls.push(...bare.calls);
      at = bare.at;
    }
    for (;;) {
      const next = calls.length === 0 ? skipBlank(text, at) : skipClosings(text, at);
      if (next === 'more') return 'more';
      at = next;
      if (at === text.length) return calls.length === 0 ? 'more' : calls;
      const read = this.#block(text, at, calls.length > 0);
      if (read === 'no' || read === 'more') return read;
      calls.push(...read.calls);
      at = read.at;
    }
  }

  /** JSON, in a fence or not, or GLM's call without its opening tag. Empty: the text begins with a tag. */
  #bare(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    if (start === text.length) return 'more';
    if (CALL_OPENINGS.some((each) => matchToken(text, start, each) !== 'no')) return { calls: [], at: start };
    if (text[start] === '`') return this.#fenced(text, start);
    if (text[start] === '{' || text[start] === '[') return this.#json(text, start);
    const name = this.#name(text, start);
    if (name === 'no' || name === 'more') return name;
    const next = skipBlank(text, name.at);
    const found = matchToken(text, next, '<arg_key>');
    return found === 'yes' ? this.#argKeys(text, next, name.name) : found;
  }

  #fenced(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const line = text.indexOf('\n', start);
    const head = line === -1 ? text.slice(start) : text.slice(start, line);
    const opens = ['```', '```json', '```tool_call', '```tool'];
    if (line === -1) return opens.some((each) => each.startsWith(head.trimEnd())) ? 'more' : 'no';
    if (!opens.includes(head.trimEnd())) return 'no';
    const read = this.#json(text, skipBlank(text, line));
    if (read === 'no' || read === 'more') return read;
    const end = skipBlank(text, read.at);
    const found = matchToken(text, end, '```');
    return found === 'yes' ? { calls: read.calls, at: end + 3 } : found;
  }

  #block(text: string, start: number, follows: boolean, depth = 0): Read<{ calls: readonly TextCall[] }> {
    if (follows && (text[start] === '{' || text[start] === '[')) {
      const found = matchToken(text, start, '[TOOL_CALLS]');
      if (found !== 'yes') return found === 'more' ? 'more' : this.#json(text, start);
    }
    let partial = false;
    for (const token of WRAPPERS) {
      const found = matchToken(text, start, token);
      if (found === 'yes') return depth > 1 ? 'no' : this.#wrapped(text, skipBlank(text, start + token.length), depth);
      partial ||= found === 'more';
    }
    if (matchToken(text, start, FUNCTION) === 'yes') return this.#function(text, start + FUNCTION.length);
    for (const token of INVOKES) {
      if (matchToken(text, start, token) === 'yes') return this.#invoke(text, start + token.length);
    }
    if (CHANNELS.some((token) => matchToken(text, start, token) === 'yes')) return this.#channel(text, start);
    partial ||= CALL_OPENINGS.some((token) => matchToken(text, start, token) === 'more');
    return partial ? 'more' : 'no';
  }

  /** The text after an opening token. */
  #wrapped(text: string, at: number, depth: number): Read<{ calls: readonly TextCall[] }> {
    if (at === text.length) return 'more';
    if (text[at] === '{') return this.#json(text, at);
    if (text[at] === '[') {
      const found = matchToken(text, at, '[TOOL_CALLS]');
      return found === 'no' ? this.#json(text, at) : found === 'more' ? 'more' : 'no';
    }
    if (text[at] === '<') return this.#block(text, at, false, depth + 1);
    const gemma = matchToken(text, at, 'call:');
    if (gemma !== 'no') return gemma === 'more' ? 'more' : this.#gemma(text, at + 'call:'.length);
    const name = this.#name(text, at);
    if (name === 'no') return this.#pythonCall(text, at);
    return name === 'more' ? name : this.#afterName(text, name.at, name.name);
  }

  #afterName(text: string, end: number, name: string): Read<{ calls: readonly TextCall[] }> {
    const at = skipBlank(text, end);
    if (at === text.length) return 'more';
    // DeepSeek: `function<sep>NAME` and a fence, or `NAME<sep>{…}`.
    const separated = matchToken(text, at, SEPARATOR);
    if (separated !== 'no')
      return separated === 'more' ? 'more' : this.#afterSeparator(text, at + SEPARATOR.length, name);
    for (const token of ['[ARGS]', '[CALL_ID]']) {
      const found = matchToken(text, at, token);
      if (found === 'more') return 'more';
      if (found === 'no') continue;
      const next = text.indexOf(token === '[ARGS]' ? '{' : '[ARGS]', at + 1);
      if (next === -1) return 'more';
      return token === '[ARGS]'
        ? this.#arguments(text, skipBlank(text, at + 6), name)
        : this.#afterName(text, next, name);
    }
    if (text[at] === '{') return this.#arguments(text, at, name);
    if (text[at] === '(') return this.#pythonArguments(text, at + 1, name);
    const kimi = matchToken(text, at, KIMI_ARGUMENTS);
    if (kimi === 'yes') return this.#arguments(text, skipBlank(text, at + KIMI_ARGUMENTS.length), name);
    if (kimi === 'more') return 'more';
    const found = matchToken(text, at, '<arg_key>');
    if (found === 'yes') return this.#argKeys(text, at, name);
    const closed = matchToken(text, at, '</tool_call>');
    if (closed === 'yes') return { calls: [{ name, arguments: '{}' }], at };
    return found === 'more' || closed === 'more' ? 'more' : 'no';
  }

  #afterSeparator(text: string, start: number, before: string): Read<{ calls: readonly TextCall[] }> {
    const at = skipBlank(text, start);
    if (at === text.length) return 'more';
    if (text[at] === '{') return this.#arguments(text, at, before);
    const name = this.#name(text, at);
    if (name === 'no' || name === 'more') return name;
    const body = text.indexOf('{', name.at);
    const between = body === -1 ? text.slice(name.at) : text.slice(name.at, body);
    const head = between.replaceAll(/\s/g, '');
    if (body === -1) return '```json'.startsWith(head) ? 'more' : 'no';
    if (head !== '```json' && head !== '') return 'no';
    const read = this.#arguments(text, body, name.name);
    if (read === 'no' || read === 'more') return read;
    const end = skipBlank(text, read.at);
    const fence = matchToken(text, end, '```');
    return head === '' || fence === 'no' ? read : fence === 'more' ? 'more' : { ...read, at: end + 3 };
  }

  /** `NAME>` with `<parameter=KEY>VALUE</parameter>`, or with JSON. */
  #function(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const name = this.#name(text, start);
    if (name === 'no' || name === 'more') return name;
    if (name.at === text.length) return 'more';
    if (text[name.at] !== '>') return 'no';
    const at = skipBlank(text, name.at + 1);
    if (text[at] === '{') return this.#arguments(text, at, name.name);
    return this.#parameters(text, at, name.name, PARAMETER, '</function>');
  }

  #invoke(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const name = this.#name(text, start);
    if (name === 'no' || name === 'more') return name;
    const head = matchToken(text, name.at, '">');
    if (head !== 'yes') return head;
    const marked = text.startsWith('｜DSML｜', start - '｜DSML｜invoke name="'.length);
    return this.#parameters(
      text,
      skipBlank(text, name.at + 2),
      name.name,
      NAMED_PARAMETER,
      marked ? '</｜DSML｜invoke>' : '</invoke>',
    );
  }

  #parameters(
    text: string,
    start: number,
    name: string,
    { opening, closing }: typeof PARAMETER,
    end: string,
  ): Read<{ calls: readonly TextCall[] }> {
    const values: Record<string, unknown> = {};
    for (let at = start; ; ) {
      const ended = matchToken(text, at, end);
      const closes = this.#lenient && matchToken(text, at, TAG_END) === 'yes';
      if (closes) return { calls: [{ name, arguments: JSON.stringify(values) }], at };
      if (ended === 'yes') return { calls: [{ name, arguments: JSON.stringify(values) }], at: at + end.length };
      opening.lastIndex = at;
      const opened = opening.exec(text);
      if (opened === null) {
        const possible = ended === 'more' || /^<[^>]{0,200}$/.test(text.slice(at, at + 202)) || at === text.length;
        return possible ? 'more' : 'no';
      }
      const from = at + opened[0].length;
      const closer = this.#lenient && opening === PARAMETER.opening ? LENIENT_CLOSING : closing;
      closer.lastIndex = from;
      const closed = closer.exec(text);
      if (closed === null) return 'more';
      values[opened[1] ?? ''] = this.#value(name, opened[1] ?? '', text.slice(from, closed.index));
      at = skipBlank(text, closed.index + (closed[1]?.length ?? 0));
    }
  }

  #argKeys(text: string, start: number, name: string): Read<{ calls: readonly TextCall[] }> {
    const values: Record<string, unknown> = {};
    let at = start;
    for (;;) {
      const found = matchToken(text, at, '<arg_key>');
      if (found === 'more') return 'more';
      if (found === 'no') break;
      const key = text.indexOf('</arg_key>', at);
      const opening = text.indexOf('<arg_value>', at);
      const closing = text.indexOf('</arg_value>', at);
      if (key === -1 || opening === -1 || closing === -1) return 'more';
      const own = text.slice(at + '<arg_key>'.length, key).trim();
      values[own] = this.#value(name, own, text.slice(opening + '<arg_value>'.length, closing));
      at = skipBlank(text, closing + '</arg_value>'.length);
    }
    const ended = matchToken(text, at, '</tool_call>');
    return ended === 'yes'
      ? { calls: [{ name, arguments: JSON.stringify(values) }], at }
      : 'more' === ended || at === text.length
        ? 'more'
        : 'no';
  }

  /** Gemma 4: `NAME{key:<|"|>text<|"|>,other:1}`. */
  #gemma(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const name = this.#name(text, start);
    if (name === 'no' || name === 'more') return name;
    if (name.at === text.length) return 'more';
    if (text[name.at] !== '{') return 'no';
    const end = text.indexOf(`}${GEMMA_END}`, name.at);
    if (end === -1) return 'more';
    const parts = text.slice(name.at, end + 1).split('<|"|>');
    const json = parts.map((each, index) =>
      index % 2 === 1 ? JSON.stringify(each) : each.replace(/([{,]\s{0,20})([\w-]{1,128})(?=\s{0,20}:)/g, '$1"$2"'),
    );
    const value = parseJson(json.join(''));
    return isObject(value) ? { calls: [{ name: name.name, arguments: JSON.stringify(value) }], at: end + 1 } : 'no';
  }

  /** openai/harmony: the recipient is in the head of the channel. */
  #channel(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const message = BARE_CHANNELS.some((each) => text.startsWith(each, start)) ? '' : '<|message|>';
    const end = text.indexOf(message || '{', start);
    const head = end === -1 ? text.slice(start) : text.slice(start, end);
    if (head.length > MAX_HEAD) return 'no';
    if (end === -1) return 'more';
    const name = / to=(?:functions\.)?([\w.-]{1,128})/.exec(head)?.[1];
    if (name === undefined || !this.#tools.has(name)) return 'no';
    return this.#arguments(text, skipBlank(text, end + message.length), name);
  }

  /** The name of an offered tool. */
  #name(text: string, at: number): Read<{ name: string }> {
    NAME.lastIndex = at;
    const [written = ''] = NAME.exec(text) ?? [];
    const prefix = written.startsWith('functions.') ? 'functions.' : '';
    const whole = written.slice(prefix.length);
    // Kimi numbers the calls: `functions.NAME:0`.
    const name = this.#tools.has(whole) ? whole : whole.replace(/:\d{0,9}$/, '');
    const end = at + written.length;
    const known = this.#tools.has(name);
    // DeepSeek writes the kind of the tool before its name.
    if (end < text.length)
      return known || (written === 'function' && matchToken(text, end, SEPARATOR) !== 'no') ? { name, at: end } : 'no';
    const starts = ['functions.', 'function'].some((each) => each.startsWith(written));
    const begins = [...this.#tools.keys()].some((each) => each.startsWith(written) || each.startsWith(name));
    return starts || begins ? 'more' : 'no';
  }

  #arguments(text: string, at: number, name: string): Read<{ calls: readonly TextCall[] }> {
    if (at === text.length) return 'more';
    if (!this.#tools.has(name) || text[at] !== '{') return 'no';
    const read = readJson(text, at);
    if (read === 'no' || read === 'more') return read;
    return { calls: [{ name, arguments: JSON.stringify(read.value) }], at: read.at };
  }

  /** Llama: `[NAME(key="value"), …]`. */
  #pythonList(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    const calls: TextCall[] = [];
    for (let at = start; ; ) {
      const read = this.#pythonCall(text, skipBlank(text, at + 1));
      if (read === 'no' || read === 'more') return read;
      calls.push(...read.calls);
      at = skipBlank(text, read.at);
      if (at === text.length) return 'more';
      if (text[at] === ']') return { calls, at: at + 1 };
      if (text[at] !== ',') return 'no';
    }
  }

  /** `NAME(key="value")`, with Llama’s own tools as `NAME.call(…)`. */
  #pythonCall(text: string, start: number): Read<{ calls: readonly TextCall[] }> {
    PYTHON_NAME.lastIndex = start;
    const [written = ''] = PYTHON_NAME.exec(text) ?? [];
    const end = start + written.length;
    const name = written.replace(/^functions\./, '');
    if (end === text.length) {
      const begins = [...this.#tools.keys()].some((each) => `${each}.call`.startsWith(name));
      return begins || 'functions.'.startsWith(written) ? 'more' : 'no';
    }
    const known = [name, name.replace(/\.call$/, '')].find((each) => this.#tools.has(each));
    return known === undefined || text[end] !== '(' ? 'no' : this.#pythonArguments(text, end + 1, known);
  }

  /** Arguments by name. Others are those of code. */
  #pythonArguments(text: string, start: number, name: string): Read<{ calls: readonly TextCall[] }> {
    const values: Record<string, unknown> = {};
    for (let at = skipBlank(text, start); ; ) {
      if (at === text.length) return 'more';
      if (text[at] === ')') return { calls: [{ name, arguments: JSON.stringify(values) }], at: at + 1 };
      PYTHON_KEY.lastIndex = at;
      const [key = ''] = PYTHON_KEY.exec(text) ?? [];
      const equals = skipBlank(text, at + key.length);
      if (key !== '' && equals === text.length) return 'more';
      if (key === '' || text[equals] !== '=') return 'no';
      const value = readPython(text, skipBlank(text, equals + 1));
      if (value === 'no' || value === 'more') return value;
      values[key] = value.value;
      at = skipBlank(text, value.at);
      if (text[at] === ',') at = skipBlank(text, at + 1);
      else if (at < text.length && text[at] !== ')') return 'no';
    }
  }

  /** An object that is a call, or a list of them. */
  #json(text: string, at: number): Read<{ calls: readonly TextCall[] }> {
    const inner = skipBlank(text, at + 1);
    if (text[at] === '[' && inner < text.length && text[inner] !== '{') return this.#pythonList(text, at);
    const head = this.#head(text, at);
    if (head !== 'yes') return head;
    let read = readJson(text, at);
    if (read === 'more' && this.#lenient) read = readOpenJson(text, at);
    if (read === 'no' || read === 'more') return read;
    const { value } = read;
    // GLM writes the whole message as JSON (ggml-org/llama.cpp#15186).
    const list = isObject(value) && Array.isArray(value.tool_calls) ? value.tool_calls : [value].flat();
    const calls = list.map((each) => this.#call(each));
    const known = calls.filter((each) => each !== undefined);
    return known.length === 0 || known.length < calls.length ? 'no' : { calls: known, at: read.at };
  }

  /** Judges the beginning of JSON, so that other JSON is not held back. */
  #head(text: string, start: number): 'no' | 'more' | 'yes' {
    let at = skipBlank(text, text[start] === '[' ? start + 1 : start);
    if (at === text.length) return 'more';
    if (text[at] !== '{') return 'no';
    at = skipBlank(text, at + 1);
    if (at === text.length) return 'more';
    const member = quoted(text, at);
    if (member === 'no') return 'no';
    if (!member.closed) return FIRST_MEMBERS.some((each) => each.startsWith(member.text)) ? 'more' : 'no';
    if (!FIRST_MEMBERS.includes(member.text)) return 'no';
    if (member.text !== 'name' && member.text !== 'tool' && member.text !== 'tool_name') return 'yes';
    const colon = skipBlank(text, member.at);
    const value = quoted(text, skipBlank(text, colon + 1));
    if (colon + 1 >= text.length || value === 'no') return skipBlank(text, colon + 1) >= text.length ? 'more' : 'no';
    const name = value.text.replace(/^functions\./, '');
    if (value.closed) return this.#tools.has(name) ? 'yes' : 'no';
    const names = [...this.#tools.keys()];
    return names.some((each) => each.startsWith(name) || `functions.${each}`.startsWith(value.text)) ? 'more' : 'no';
  }

  #call(value: unknown): TextCall | undefined {
    if (!isObject(value)) return undefined;
    const inner = isObject(value.function) ? value.function : value;
    const written = [inner.name, inner.tool, inner.tool_name, inner.function].find((each) => typeof each === 'string');
    const name = String(written ?? '').replace(/^functions\./, '');
    if (!this.#tools.has(name)) return undefined;
    const given = inner.arguments ?? inner.parameters ?? inner.args ?? inner.input;
    const parsed = typeof given === 'string' ? parseJson(given === '' ? '{}' : given) : given;
    return isObject(parsed) ? { name, arguments: JSON.stringify(parsed) } : undefined;
  }

  /** XML has only texts. The schema shows which of them are JSON. */
  #value(name: string, key: string, text: string): unknown {
    const schema = objectOrEmpty(ownEntry(objectOrEmpty(this.#tools.get(name)?.parameters.properties), key));
    const types = [schema.type].flat();
    const plain = text.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
    if (types.includes('string') || schema.enum !== undefined) return plain;
    const value = parseJson(plain.trim());
    const isTyped = schema.type !== undefined || schema.anyOf !== undefined;
    return value !== undefined && (isTyped || typeof value === 'object') ? value : plain;
  }
}

/** A value ends before the next parameter or the end of the call: it may contain the closing tag itself. */
const PARAMETER = {
  opening: /<parameter=([\w.-]{1,128})>/y,
  closing: /(<\/parameter>)(?=\s{0,20}<(?:parameter=|\/function>))/g,
};
/** The same where closing tags are missing: the value ends at the first one that is there. */
const LENIENT_CLOSING = /(<\/parameter>)?(?=\s{0,20}<(?:parameter=|\/function>|\/tool_call>))/g;
const TAG_END = '</tool_call>';
const NAMED_PARAMETER = {
  opening: /<(?:｜DSML｜)?parameter name="([\w.-]{1,128})"[^>]{0,80}>/y,
  closing:
    /(<\/(?:｜DSML｜)?parameter>)(?=\s{0,20}<(?:｜DSML｜)?(?:parameter |\/(?:｜DSML｜)?invoke>)|\s{0,20}<\/｜DSML｜invoke>)/g,
};
const PYTHON_NAME = /[\w.-]{1,128}/y;
const PYTHON_KEY = /[A-Za-z_]\w{0,127}/y;
const PYTHON_WORD = /[\w.+-]{1,40}/y;
const PYTHON_WORDS = new Map<string, unknown>([
  ['True', true],
  ['False', false],
  ['None', null],
]);
const PYTHON_ESCAPES = new Map(Object.entries({ n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'", '\n': '' }));
const PYTHON_CODE = /^\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|U(000[\da-fA-F]{5}|0010[\da-fA-F]{4}))/;
const MAX_DEPTH = 30;
const GEMMA_END = '<tool_call|>';
const MAX_HEAD = 200;

/** Whether a token is at a place; `more`: the text ends inside it. */
function matchToken(text: string, at: number, token: string): 'no' | 'more' | 'yes' {
  if (text.startsWith(token, at)) return 'yes';
  return at + token.length > text.length && token.startsWith(text.slice(at)) ? 'more' : 'no';
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1;
  return at;
}

function skipClosings(text: string, start: number): number | 'more' {
  for (let at = skipBlank(text, start); ; ) {
    const token = CLOSINGS.find((each) => text.startsWith(each, at));
    if (token === undefined) {
      const partial = at < text.length && CLOSINGS.some((each) => matchToken(text, at, each) === 'more');
      return partial ? 'more' : at;
    }
    at = skipBlank(text, at + token.length);
  }
}

function quoted(
  text: string,
  at: number,
): 'no' | { readonly text: string; readonly closed: boolean; readonly at: number } {
  if (text[at] !== '"') return 'no';
  const end = text.indexOf('"', at + 1);
  return end === -1
    ? { text: text.slice(at + 1), closed: false, at: text.length }
    : { text: text.slice(at + 1, end), closed: true, at: end + 1 };
}

/** A JSON value. Small models write line breaks into texts as they are. */
function readJson(text: string, start: number): Read<{ value: JsonObject | readonly unknown[] }> {
  let depth = 0;
  let inText = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && --depth === 0) {
      const json = text.slice(start, at + 1);
      const value = parseJson(json) ?? parseJson(escapeBreaks(json));
      return isObject(value) || Array.isArray(value) ? { value, at: at + 1 } : 'no';
    }
  }
  return 'more';
}

/** A literal of Python. */
function readPython(text: string, at: number, depth = 0): Read<{ value: unknown }> {
  const first = text[at];
  if (first === undefined) return 'more';
  if (first === '"' || first === "'") return readPythonTexts(text, at);
  const closing = { '[': ']', '(': ')', '{': '}' }[first];
  if (closing !== undefined) return depth > MAX_DEPTH ? 'no' : readPythonItems(text, at + 1, closing, depth + 1);
  PYTHON_WORD.lastIndex = at;
  const [word = ''] = PYTHON_WORD.exec(text) ?? [];
  if (at + word.length === text.length) return 'more';
  const value = PYTHON_WORDS.has(word) ? PYTHON_WORDS.get(word) : parseJson(word);
  return value === undefined || (typeof value === 'object' && value !== null) ? 'no' : { value, at: at + word.length };
}

/** The items of a list, or the members of a dictionary. */
function readPythonItems(text: string, start: number, closing: string, depth: number): Read<{ value: unknown }> {
  const items: unknown[] = [];
  /** Brackets around one value are a list of one only with a comma. */
  let isList = closing === ']';
  const members: Record<string, unknown> = {};
  for (let at = skipBlank(text, start); ; ) {
    if (at === text.length) return 'more';
    if (text[at] === closing) {
      if (closing === '}') return { value: members, at: at + 1 };
      return { value: isList || items.length !== 1 ? items : items[0], at: at + 1 };
    }
    let item = readPython(text, at, depth);
    if (item === 'no' || item === 'more') return item;
    if (closing === '}') {
      const key = item.value;
      const colon = skipBlank(text, item.at);
      if (colon === text.length) return 'more';
      if (typeof key !== 'string' || text[colon] !== ':') return 'no';
      item = readPython(text, skipBlank(text, colon + 1), depth);
      if (item === 'no' || item === 'more') return item;
      members[key] = item.value;
    } else items.push(item.value);
    at = skipBlank(text, item.at);
    if (text[at] === ',') {
      isList = true;
      at = skipBlank(text, at + 1);
    } else if (at < text.length && text[at] !== closing) return 'no';
  }
}

/** Strings beside each other are one. */
function readPythonTexts(text: string, start: number): Read<{ value: string }> {
  let value = '';
  for (let at = start; ; ) {
    const read = readPythonText(text, at);
    if (read === 'no' || read === 'more') return read;
    value += read.value;
    at = skipBlank(text, read.at);
    if (text[at] !== '"' && text[at] !== "'") return { value, at: read.at };
  }
}

function readPythonText(text: string, start: number): Read<{ value: string }> {
  const triple = text.slice(start, start + 3);
  if (triple.length < 3 && start + triple.length === text.length && new Set(triple).size === 1) return 'more';
  const quote = new Set(triple).size === 1 ? triple : triple.slice(0, 1);
  let value = '';
  for (let at = start + quote.length; at < text.length; ) {
    if (text.startsWith(quote, at)) return { value, at: at + quote.length };
    const character = text[at] ?? '';
    const next = text[at + 1] ?? '';
    const code = character === '\\' ? PYTHON_CODE.exec(text.slice(at, at + 10)) : null;
    if (character !== '\\') value += character;
    else if (code) value += String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16));
    else value += PYTHON_ESCAPES.get(next) ?? `\\${next}`;
    at += code?.[0].length ?? (character === '\\' ? 2 : 1);
  }
  return 'more';
}

/** JSON without its last braces before a closing tag. */
function readOpenJson(text: string, start: number): Read<{ value: JsonObject | readonly unknown[] }> {
  const end = text.indexOf(TAG_END, start);
  if (end === -1) return 'no';
  const json = text.slice(start, end).trimEnd();
  for (const braces of ['}', '}}']) {
    const value = parseJson(json + braces) ?? parseJson(escapeBreaks(json + braces));
    if (isObject(value)) return { value, at: end };
  }
  return 'no';
}

function escapeBreaks(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/gs, (each) =>
    each.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
  );
}
