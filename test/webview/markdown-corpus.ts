/** A block with a whole Markdown file. */
const README = [
  ...['```markdown', '# Title', '', '```bash', 'npm install todo', '```', '', '## Use', ''],
  ...['```js', 'run();', '```', '', 'The end.', '```'],
].join('\n');

/** Markdown where an incremental writer can go wrong: one case of each construct of CommonMark and GFM, and their borders. */
export const CORPUS: Readonly<Record<string, string>> = {
  paragraphs: 'One.\nStill one.\n\nTwo.  \nwith a break\\\nand another.\n\n\n\nThree.',
  'setext headings': 'Title\n=====\n\nSub\n---\n\nNot a heading\n\n---\n\npara\n-\npara\n- item',
  'atx headings': '# One\n## Two ##\n### *Three*\n#Not\n#\npara\n#\npara\n#no\n####### seven',
  rules: 'a\n***\nb\n***bold***\nc\n* * *\n- - -\n- - -x\n___\n_ _ _ _',
  'indented code': 'para\n    still para\n\n    code\n\n    more code\n\tcode\nafter',
  fences:
    '```ts\nconst a = 1;\n\n\nconst b = 2;\n```\nafter\n~~~\ntilde ``` inside\n~~~\n\n````md\n```js\ninner\n```\n````\ntext',
  'fence without an end': 'before\n\n```py\nprint(1)\n\nprint(2)\n',
  'fence that ends without a break': '```js\nlet x = 1\n```',
  'empty fences': '```\n```\n\n```js\n\n```\n\n~~~\n\n\n~~~\nend',
  'fence with an indented end': '```\ncode\n   ```\nout\n\n```\ncode\n    ```\nstill code\n```',
  'fence that is indented': '  ```js\n  two\n    four\n one\n  ```\nafter',
  'fence after text without a blank line': 'text\n```sh\nls\n```\nmore text\n```sh\npwd\n```',
  'fence in a list': '1. first\n\n   ```ts\n   const a = 1;\n   ```\n\n2. second\n   ```\n   x\n   ```\n3. third',
  'fence in a quotation': '> ```js\n> let x\n> ```\n> more\n\nout',
  'Markdown in a fence': `Save it:\n\n${README}\nThat was all.\n\n## After`,
  'Markdown with fences without a language':
    'Save it:\n\n```md\n# T\n\nInstall:\n\n```\nnpm i\n```\n\nRun:\n```\nnpm start\n```\n```js\nx();\n```\n## End\n```\nThat was all.',
  'Markdown with a tree, then a block':
    '```markdown\n## Files\n\n```\nsrc/\n  a.ts\n```\n\n```\n\nAnd run:\n\n```\nls\n```\nout',
  'Markdown that ends after a blank line':
    '```markdown\n# T\n\n```\n\nAnd run:\n\n```\nls\n```\nout\n\n```md\n\n```\n   ',
  'Markdown in a fence without an end': '```markdown\n# T\n\n```bash\nnpm i\n```\nThe end.',
  'Markdown in a fence in a list':
    '1. Save it:\n\n   ```md\n   # T\n   ```js\n   run();\n   ```\n   The end.\n   ```\n2. next',
  'Markdown in an indented fence': '  ```md\n  # T\n   ```js\n  run();\n  ```\n  end\n  ```\nafter',
  'a fence in code that is not Markdown': '```js\n`\n```ts\n`\n```\nafter\n```',
  'prices and shells':
    'From $5 to $10, or $5, or 10$. Set $HOME/bin:$PATH, ${a}/${b} and $(a)/$(b). \\[link\\](x) $$ and $$',
  'inline code with many ticks': '`a` ``b ` c`` ```d```\n\n``unclosed ` and on',
  'backticks that are no fence': '``` not a fence ``` here\n\n```also`not\n\n`` x',
  'bullet lists': '- a\n- b\n  - c\n    - d\n- e\n\npara\n\n* f\n* g\n\n+ h',
  'loose lists': '- a\n\n- b\n\n  more of b\n\n- c\n\npara',
  'ordered lists': '1. a\n2. b\n10. c\n\n3) d\n4) e\n\ntext\n1. interrupts\n\ntext\n2. does not',
  'list then code': '- a\n\n      code in a\n\n- b\n\n    code or b?',
  tasks: '- [ ] open\n- [x] done\n- [X] also\n- [] none',
  'lists that touch': '- a\n- b\n\n\n* c\n* d\n1. e\n',
  'a list that what follows decides': 'One.\n2. does not\n-\nOne.',
  'spaces at the start of a line that what follows decides': 'One.\n3. third\n    still para\n---\nOne.',
  'empty items': '-\n- a\n-\n\n1.\n2. b',
  quotations: '> a\n> b\nlazy\n\n> c\n>\n> d\n\n>> nested\n> back\n\nout',
  tables: '| a | b |\n|---|:-:|\n| 1 | 2 |\n| `x | y` | z |\n| only one |\n\nafter\n\na | b\n--|--\n1 | 2',
  'table after a paragraph': 'para\n| a | b |\n|---|---|\n| 1 | 2 |\nend',
  'table with an unmatched tick': '| a | b |\n|---|---|\n| ` | 2 |\n| 3 | 4 |\n| 5 | 6 |',
  'no table': '| a | b |\n\n| c |\n| - - |',
  emphasis: '*a* _b_ **c** __d__ ***e*** snake_case_name snake__case__name *not* * a* **un*closed**\n~~gone~~ ~one~',
  links:
    '[a](https://a.example "t") [b](<https://b.example/x y>) [c](https://c.example\n"two lines") <https://d.example> https://e.example. www.f.example',
  'reference links':
    '[early][r] and [r] and [none][x]\n\n- in a list [r]\n\n> quoted [r][]\n\n[r]: https://r.example "Title"\n\n[late][r]',
  'definitions that go on': '[a]\n\n[a]: https://a.example\n"title below"\n\n[b]:\nhttps://b.example\n\n[b]',
  'definitions in a row': '[x] [y]\n\n[x]: https://x.example\n[y]: https://y.example\ntext right after',
  images: '![alt](https://i.example/x.png) ![](data:image/png;base64,AAAA) ![ref][i]\n\n[i]: https://i.example/y.png',
  html: 'a <b>bold</b> c\n\n<div>\nblock\n\nmarkdown **in**\n</div>\n\n<!-- comment\n\nstill -->\n\nafter <br> x',
  'html that is cut':
    'x\n\n<script>\nalert(1)\n\nalert(2)\n</script>\n\n<pre>\n\nkept\n</pre>\nend\n\n<!-- open\n\nfor ever',
  entities: '&amp; &lt;b&gt; &copy; &#35; &#x1F44B; &nope; AT&T < > "q"',
  escapes: '\\*not\\* \\# \\` \\[a\\](b) \\\\ \\a\n\\# no heading',
  'line breaks of Windows': '# A\r\n\r\npara\r\nmore\r\n\r\n```js\r\nlet a\r\n\r\nlet b\r\n```\r\n\r\n- x\r\n- y\r\n',
  'old line breaks': 'a\rb\r\rc\r```\rcode\r```\rd',
  unicode: '# Ünïcödé 👩‍👩‍👧\n\n**太字**です。 العربية\n\n- 👋\n- 日本語\n',
  'spaces at the ends': '  a  \n   \n  b\t\n\n\t- c\n',
  'nothing but space': '\n\n   \n\t\n',
  'deep nesting': '- 1\n  - 2\n    - 3\n      - 4\n        > q\n        > ```\n        > c\n        > ```\n',
  'nesting beyond what is drawn': `${'> '.repeat(40)}x\n\n${'- '.repeat(40)}y\n`,
  'more marks than are drawn': `${'**a *b [c '.repeat(300)}\n\nafter *this*\n`,
  'mixed answer':
    'Sure! Here is **how**:\n\n1. Install:\n   ```sh\n   npm i\n   ```\n2. Use:\n\n```ts\nimport { a } from "a";\n\nexport const b = a();\n```\n\n| k | v |\n|---|---|\n| a | `1` |\n\n> Note: see [docs][d].\n\n[d]: https://d.example\n\nDone.',
};
