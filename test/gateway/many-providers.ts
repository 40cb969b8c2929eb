import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** The path of each format, its provider, and a minimal body. */
export const FORMATS = [
  { path: '/chat/completions', own: 'chat', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  { path: '/responses', own: 'responses', body: { input: 'Hi' } },
  { path: '/messages', own: 'messages', body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] } },
] as const;
export const UPSTREAMS = ['chat', 'messages', 'responses'];

/** A gateway of providers with different requirements, one of them with short time limits. */
export function gatewayOfManyProviders(): Promise<TestGateway> {
  return startTestGateway({
    config: (url) => {
      const options = { baseURL: `${url}/v1`, apiKey: 'k' };
      return {
        provider: {
          ...providers(url),
          hasty: { options: { ...options, chunkTimeout: 600, timeout: 150 }, models: { m: {} } },
          tuned: {
            options,
            models: {
              m: { options: { top_k: 5 }, variants: { high: { reasoning_effort: 'high' } }, temperature: false },
            },
          },
          mistral: { npm: '@ai-sdk/mistral', options, models: { 'codestral-x': {}, m: {} } },
        },
        gateway: { maxBodyBytes: 1_000_000, allowedOrigins: ['https://app.example'], allowedHosts: ['gw.example'] },
      };
    },
  });
}
