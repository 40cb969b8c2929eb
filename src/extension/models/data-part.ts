import { isObject } from '../../base/json.ts';

/** The fields of VS Code's `LanguageModelDataPart`, which is part of the API since VS Code 1.106. */
export interface DataPart {
  readonly mimeType: string;
  readonly data: Uint8Array;
}

export function isDataPart(part: unknown): part is DataPart {
  return isObject(part) && typeof part.mimeType === 'string' && part.data instanceof Uint8Array;
}
