import * as z from 'zod';
import { defineTool } from '../define-tool.ts';
import type { ChatTool } from '../tools.ts';
import { webAddress } from './web-address.ts';

/** Asks once for each origin. Not for workspaces that are not trusted: an address can contain data. */
export function webTools(fetched: (url: string) => void = () => undefined): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'fetch_web_page',
        description: 'Reads a web page as text.',
        input: z.object({ url: z.string() }),
      },
      false,
      ({ url: written }) => {
        const { href, origin } = webAddress(written);
        return {
          confirmation: true,
          action: { type: 'fetch', url: href, origin },
          run: async ({ signal }) => {
            const { readWebPage } = await import('./web-page.ts');
            fetched(href);
            return { output: await readWebPage(href, signal) };
          },
        };
      },
    ),
  ];
}
