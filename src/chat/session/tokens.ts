/** Average characters of English text and code per token. Only for estimates. */
const CHARACTERS_PER_TOKEN = 4;
/** Vendors count 85 to 1,600 tokens for an image of usual size. This is a high estimate. */
export const IMAGE_TOKENS = 1500;
/** A page of a PDF is about 60 KB and 2,000 tokens. */
export const PDF_BYTES_PER_TOKEN = 30;

/**
 * Estimates the tokens of a text, for attachments, compaction and the models of VS Code’s chat. East Asian characters
 * and emoji count as one token each.
 */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (const character of text) if ((character.codePointAt(0) ?? 0) > 0x2e7f) wide += 1;
  return Math.ceil((text.length - wide) / CHARACTERS_PER_TOKEN) + wide;
}
