/** Translations. The page’s head has them. The English text is the key. */
let bundle: Readonly<Record<string, unknown>> | undefined;

/** Translates a text into the display language. `{0}` is replaced with the first value, `{1}` with the second. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  bundle ??= readBundle();
  const translated = bundle[text];
  const template = typeof translated === 'string' ? translated : text;
  return template.replace(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole));
}

function readBundle(): Readonly<Record<string, unknown>> {
  const content = document.querySelector('meta[name="words"]')?.getAttribute('content');
  if (!content) return {};
  const value: unknown = JSON.parse(content);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
