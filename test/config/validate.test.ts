import assert from 'node:assert/strict';
import { parse } from '../../src/config/load/parse.ts';
import { validate } from '../../src/config/schema/validate.ts';
import { plain } from '../../src/config/settings/tree.ts';

const SOURCE = { kind: 'global', path: '/x/svc.jsonc', trusted: true, status: 'loaded' } as const;

function validated(text: string) {
  const { tree } = parse(text, SOURCE);
  assert.ok(tree !== undefined);
  return validate(tree);
}

describe('validate', () => {
  const provider = (fields: string) => `{"provider": {"p": {${fields}}}}`;
  const model = (fields: string) => provider(`"models": {"m": {${fields}}}`);
  const cases: readonly (readonly [text: string, ...expected: readonly string[]])[] = [
    ['{"model": 5}', '11 invalid-value model: This must be a model as <provider_id>/<model_id>, and is 5.'],
    ['{"model": null}', '11 invalid-value model: This must be a model as <provider_id>/<model_id>, and is null.'],
    ['{"provider": []}', '14 invalid-value provider: This must be an object, and is a list.'],
    ['{"provider": {"p": 1}}', '20 invalid-value provider.p: This must be an object or null, and is 1.'],
    ['{"provider": {"p": null}}'],
    [
      provider('"name": ""'),
      '29 invalid-value provider.p.name: This must be non-empty text, and is text that does not fit.',
    ],
    [provider('"whitelist": ["a", 1]'), '40 invalid-value provider.p.whitelist.1: Item 1 must be text, and is 1.'],
    [provider('"fim": "mistrl"'), '28 invalid-value provider.p.fim: Did you mean "mistral"?'],
    [
      provider('"options": {"timeout": true}'),
      '44 invalid-value provider.p.options.timeout: This must be a number of milliseconds above 0, or false, and is true.',
    ],
    [
      provider('"options": {"timeout": false, "chunkTimeout": 1.5}'),
      '67 invalid-value provider.p.options.chunkTimeout: This must be a whole number of milliseconds above 0, and is 1.5.',
    ],
    [
      provider('"options": {"headers": {"a b": "1"}}'),
      '45 invalid-name provider.p.options.headers.a b: This is not a valid header name.',
    ],
    [
      provider('"options": {"headers": {"a": "1\\n"}}'),
      '50 invalid-value provider.p.options.headers.a: This must be a header value without line breaks or null, and is text that does not fit.',
    ],
    [
      model('"modalities": {"input": ["txt"]}'),
      '52 missing-key provider.p.models.m.modalities.output: `output` is missing.',
      '63 invalid-value provider.p.models.m.modalities.input.0: Did you mean "text"?',
    ],
    [
      model('"limit": {"context": 1e999}'),
      '59 invalid-value provider.p.models.m.limit.context: This must be a number of tokens, 0 or more, and is a number that does not fit.',
    ],
    [
      provider('"options": {"baseUrl": "http://a"}'),
      '33 unknown-option provider.p.options.baseUrl: This key is not known. Did you mean `baseURL`? Until then, nothing is sent to this provider.',
    ],
    ...['base_url', 'BaseURL', 'endpoint', 'url', 'apiBase', 'host', 'server_url', 'baseUri'].map(
      (name) =>
        [
          provider(`"options": {"${name}": "http://a"}`),
          `33 unknown-option provider.p.options.${name}: This key is not known. Did you mean \`baseURL\`? Until then, nothing is sent to this provider.`,
        ] as const,
    ),
    [
      provider('"options": {"gatway": "https://a/v1", "fimUrl": "http://a", "fim_endpoint": "http://a"}'),
      '33 unknown-option provider.p.options.gatway: This key is not known. Did you mean `baseURL`? Until then, nothing is sent to this provider.',
      '59 unknown-option provider.p.options.fimUrl: This key is not known. Did you mean `fimURL`? Until then, nothing is sent to this provider.',
      '81 unknown-option provider.p.options.fim_endpoint: This key is not known. Did you mean `fimURL`? Until then, nothing is sent to this provider.',
    ],
    [
      provider('"options": {"api_key": "CANARY", "timeOut": 1, "header": {}, "token": "CANARY", "orgnization": "o"}'),
      '33 unknown-option provider.p.options.api_key: This key is not known. Did you mean `apiKey`?',
      '54 unknown-option provider.p.options.timeOut: This key is not known. Did you mean `timeout`?',
      '68 unknown-option provider.p.options.header: This key is not known. Did you mean `headers`?',
      '82 unknown-key provider.p.options.token: This option is not known and has no effect. Did you mean `apiKey`?',
      '101 unknown-option provider.p.options.orgnization: This key is not known. Did you mean `organization`?',
    ],
    [
      provider('"baseURL": "http://a", "apiKey": "CANARY", "endpoint": "http://a"'),
      '21 unknown-option provider.p.baseURL: This key is not known. Write `baseURL` in `options`. Until then, nothing is sent to this provider.',
      '44 unknown-option provider.p.apiKey: This key is not known. Write `apiKey` in `options`.',
      '64 unknown-option provider.p.endpoint: This key is not known. Write `baseURL` in `options`. Until then, nothing is sent to this provider.',
    ],
    ...(
      [
        ['option', 'Did you mean `options`?'],
        ['settings', 'Write `baseURL` in `options`.'],
      ] as const
    ).map(
      ([name, hint]) =>
        [
          provider(`"${name}": {"a": {"base_url": "http://a"}}`),
          `21 unknown-option provider.p.${name}: This key is not known. ${hint} Until then, nothing is sent to this provider.`,
        ] as const,
    ),
    [
      provider('"options": {"openai": {"endpoint": "http://a"}, "queryParams": {"endpoint": "http://a"}}'),
      '33 unknown-option provider.p.options.openai: This key is not known. Write `baseURL` in `options` itself. Until then, nothing is sent to this provider.',
    ],
    [
      model('"api": "http://a", "options": {"baseURL": "http://a"}, "variants": {"v": {"api_base": "http://a"}}'),
      ...[
        ['38', 'api'],
        ['69', 'options.baseURL'],
        ['112', 'variants.v.api_base'],
      ].map(
        ([column, name]) =>
          `${column} unknown-option provider.p.models.m.${name}: The address of one model is \`api\` in its \`provider\`. Until then, this model is not available.`,
      ),
    ],
    // No addresses, and an address of its own.
    [model('"options": {"endpoint": "chat"}')],
    [
      provider('"options": {"baseURL": "http://b"}, "docs": {"home": {"endpoint": "http://a"}}'),
      '57 unknown-key provider.p.docs: This key is not known and has no effect.',
    ],
    // Fields of requests.
    [model('"options": {"url": "http://a", "server": "a", "tools": [{"server_url": "http://a"}]}')],
    [
      '{"providers": {"p": {"base_url": "http://a"}, "q": {"name": "http://a"}}}',
      '2 unknown-key providers: This key is not known and has no effect. Did you mean `provider`?',
      '16 unknown-option providers.p: This key is not known. Write it in `provider`. Until then, nothing is sent to this provider.',
    ],
    [
      '{"openai": {"options": {"baseURL": "http://a"}}, "mcp": {"m": {"endpoint": "http://a"}}}',
      '2 unknown-option openai: This key is not known. Write it in `provider`. Until then, nothing is sent to this provider.',
      '50 foreign-key : Settings of other tools have no effect in Svc: `mcp`.',
    ],
    ...['"disabled": true', '"disable": true', '"enabled": false', '"enable": false'].map(
      (text) =>
        [
          provider(text),
          `21 unknown-option provider.p.${text.split('"')[1]}: This key is not known. To turn the provider off, write \`null\` instead of it. Until then, nothing is sent to this provider.`,
        ] as const,
    ),
    [provider('"enabled": true'), '21 unknown-key provider.p.enabled: This key is not known and has no effect.'],
    ...['disabledProviders', 'disabled_provider', 'disabled-providers'].map(
      (name) =>
        [
          `{"${name}": ["openai"]}`,
          `2 unknown-key ${name}: This key is not known. Did you mean \`disabled_providers\`? Until then, no provider is used.`,
        ] as const,
    ),
    [
      provider('"options": {"compatibility": "strict", "color": "blue"}'),
      '33 unknown-key provider.p.options.compatibility: This option of other tools has no effect in Svc.',
      '60 unknown-key provider.p.options.color: This option is not known and has no effect. Fields of requests belong to a model.',
    ],
    [
      provider(
        '"options": {"reasoningEffort": "low", "queryParams": {"code": "CANARY"}, "authToken": "CANARY", "store": false}',
      ),
    ],
    [
      provider('"options": {"timeout": "60000", "apiKey": 12345}'),
      '44 invalid-value provider.p.options.timeout: This must be a number of milliseconds above 0, or false, and is text that does not fit. Write 60000 without quotes.',
      '63 invalid-value provider.p.options.apiKey: This must be text, and is a number that does not fit.',
    ],
    [
      model('"tool_call": "true"'),
      '51 invalid-value provider.p.models.m.tool_call: This must be true or false, and is text that does not fit. Write true without quotes.',
    ],
    [
      model('"context": 8192, "interleaved": {"field": "reasoning_content"}, "family": "glm"'),
      '38 unknown-key provider.p.models.m.context: This key is not known and has no effect. Write it in `limit`.',
      '55 foreign-key : Settings of other tools have no effect in Svc: `interleaved`, `family`.',
    ],
    [
      '{"model": "GLM-4.7", "mcp": {}, "agent": {"build": {}}, "permission": {"bash": "ask"}}',
      '11 invalid-value model: This must be a model as <provider_id>/<model_id>, and is "GLM-4.7".',
      '22 foreign-key : Settings of other tools have no effect in Svc: `mcp`, `agent`, `permission`.',
    ],
    [
      model('"tool_cal": 1'),
      '38 unknown-key provider.p.models.m.tool_cal: This key is not known and has no effect. Did you mean `tool_call`?',
    ],
    [
      '{"gateway": {"listen": {"port": 70000}}}',
      '33 invalid-value gateway.listen.port: This must be a whole number, at least 0, at most 65535, and is 70000.',
    ],
    [
      '{"gateway": {"pools": {"large": {"models": ["a/b"]}}}}',
      '24 invalid-name gateway.pools.large: This is not a valid name of a pool, such as "team/large".',
    ],
    [
      '{"gateway": {"pools": {"team/large": {"models": []}}}}',
      '49 invalid-value gateway.pools.team/large.models: This must be a list of one or more models, and is a list.',
    ],
    [
      '{"gateway": {"pools": {"team/large": {"models": ["a/b", "c/d"], "weights": [1]}}}}',
      '76 invalid-value gateway.pools.team/large.weights: This must be a list with a number above 0 for each model, and is a list.',
    ],
    [
      '{"gateway": {"pools": {"team/large": {"models": ["a/b"], "strategy": "least_busy"}}}}',
      '70 invalid-value gateway.pools.team/large.strategy: Did you mean "least-busy"?',
    ],
    [
      '{"provider": {"__proto__": {"api": "ftp://a"}}}',
      '36 invalid-value provider.__proto__.api: This must be an address that starts with http:// or https:// and contains no user name or password, and is text that does not fit.',
    ],
    [
      '{"__proto__": 1, "constructor": {}}',
      '2 unknown-key __proto__: This key is not known and has no effect.',
      '18 unknown-key constructor: This key is not known and has no effect.',
    ],
  ];
  for (const [text, ...expected] of cases) {
    it(`validate: reports ${expected.length === 0 ? 'nothing' : expected.join(' and ')} for ${text}`, () => {
      const found = validated(text).diagnostics.map(
        ({ column, code, key, message }) => `${column} ${code} ${key}: ${message}`,
      );
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const [index, wanted] of expected.entries()) {
        // Compare only the hint, because the list before it is long.
        const hint = /^(\S+ \S+ \S+): (Did you mean ".*)$/.exec(wanted);
        const line = found[index] ?? '';
        if (hint === null) assert.equal(line, wanted);
        else assert.ok(line.startsWith(hint[1] ?? '') && line.endsWith(hint[2] ?? ''), line);
      }
    });
  }

  it('validate: removes only the smallest entry that contains the error', () => {
    const { tree } = validated(
      '{"model": 1, "provider": {"p": {"name": "P", "models": {"m": {"limit": 1}, "n": {}}, "options": {"timeout": "x", "a": 1}}}}',
    );
    assert.deepEqual(plain(tree), { provider: { p: { name: 'P', models: { n: {} }, options: { a: 1 } } } });
  });

  for (const [name, character] of Object.entries({
    'a line break': '\n',
    'a carriage return': '\r',
    'a tab': '\t',
    'an escape': '\u001b',
    'a delete character': '\u007f',
    'a C1 control character': '\u009b',
    'a line separator': '\u2028',
    'a change of direction': '\u202e',
  })) {
    it(`validate: removes providers and models with ${name} in their id`, () => {
      const [one, two] = [`one${character}`, `two${character}`];
      const written = JSON.stringify({ provider: { [one]: null, q: { models: { [two]: null, n: {} } } } });
      const { tree, diagnostics } = validated(written);
      assert.deepEqual(plain(tree), { provider: { q: { models: { n: {} } } } });
      assert.deepEqual(
        diagnostics.map(({ severity, code, column, key }) => [severity, code, column, key]),
        [
          ['error', 'invalid-name', written.indexOf('"one') + 1, `provider.${one}`],
          ['error', 'invalid-name', written.indexOf('"two') + 1, `provider.q.models.${two}`],
        ],
      );
      assert.equal(diagnostics[0]?.message, 'This is not a valid id: it contains a control character.');
    });
  }

  it('validate: reports a list with more errors than zod can collect, and removes its provider', () => {
    const { tree, diagnostics } = validated(provider(`"name": "P", "whitelist": [${'1,'.repeat(400_000)}1]`));
    assert.deepEqual(
      diagnostics.map(({ code, key }) => [code, key]),
      [['invalid-value', 'provider.p']],
    );
    assert.deepEqual(plain(tree), { provider: {} });
  });
});
