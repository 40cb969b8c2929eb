/**
 * Declares the tests of a story: each begins where the one before it ended. One that is run alone
 * (`npm test -- "its title"`) runs those before it first.
 */
export function startStory(): (title: string, act: () => Promise<void>) => void {
  const acts: (() => Promise<void>)[] = [];
  let begun = 0;
  return (title, act) => {
    const end = acts.push(act);
    it(title, async () => {
      for (const each of acts.slice(begun, end)) {
        begun += 1;
        await each();
      }
    });
  };
}
