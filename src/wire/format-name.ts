/** The three request formats, named after their endpoints. */
export type FormatName = 'chat-completions' | 'responses' | 'messages';
