/** Whether a pattern can match the reference of a model: `*` anywhere, or `provider/model`. */
export function canMatchModel(pattern: string): boolean {
  return /^\S+$/.test(pattern) && (pattern.includes('*') || /^[^/]+\/./.test(pattern));
}
