/** The text of `diagram-script.ts` with all that it uses, made by `scripts/diagram-frame.ts`. */
declare module 'diagram-script-text' {
  const text: string;
  export default text;
}
