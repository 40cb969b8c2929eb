export function openApi(): Record<string, unknown> {
  return { openapi: '3.1.0' };
}
