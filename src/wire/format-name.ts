/** The three request formats, named after their endpoints. A file of its own: the values and `Format` both use it. */
export type FormatName = 'chat-completions' | 'responses' | 'messages';
