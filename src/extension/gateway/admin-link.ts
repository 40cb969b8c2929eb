import { objectOrEmpty } from '../../base/json.ts';

export type AdminLink =
  | { readonly kind: 'link'; readonly path: string }
  | { readonly kind: 'off' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Creates a one-time link to the admin page of a gateway. Does not import `vscode`. */
export async function createAdminLink(url: string, key: string): Promise<AdminLink> {
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/admin/v1/links`, { method: 'POST', headers, body: '{}' });
    if (response.status === 404) return { kind: 'off' };
    const body: unknown = await response.json();
    const { path, message } = objectOrEmpty(body);
    // Nothing but the page of this gateway may be opened.
    if (typeof path === 'string' && path.startsWith('/admin#')) return { kind: 'link', path };
    return { kind: 'failed', reason: typeof message === 'string' ? message : response.statusText };
  } catch (thrown) {
    return { kind: 'failed', reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
