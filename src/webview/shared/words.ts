/** The host puts the bundle of the person's language into the page's head; English is its own key. */
let bundle: Readonly<Record<string, unknown>> | undefined;

/** A text in the person's language. `{0}` takes the first value, `{1}` the second. */
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
