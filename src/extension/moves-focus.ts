/** The result of a command that has opened a page, which gets the focus. */
export const MOVES_FOCUS = 'moves-focus';
