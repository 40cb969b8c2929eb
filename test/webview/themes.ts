import themes from './themes.json' with { type: 'json' };

export type ThemeName = 'dark' | 'light' | 'hc-dark' | 'hc-light';

/** What VS Code 1.139 puts on a webview's root for Dark Modern, Light Modern and both high contrast themes. */
export const THEMES: Readonly<
  Record<ThemeName, { readonly className: string; readonly variables: Readonly<Record<string, string>> }>
> = themes;
