import { gatewayUnderTest, providers, type UnderTest } from './gateway-under-test.ts';

/** Providers that differ in what they need and allow, behind a gateway that is in a hurry. */
export function gatewayOfManyProviders(): Promise<UnderTest> {
  return gatewayUnderTest({
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
    listen: { headersTimeout: 300, requestTimeout: 600 },
  });
}
