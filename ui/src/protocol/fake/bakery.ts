// What stands in the sample folder, and what two turns changed in it: an edited file the person changed since, new,
// deleted, renamed-to links and permissions.
import { FakeFolder } from './folder';
import type { Words } from './sample';

/** Turns of the finished sample session; their ends carry the same keys. */
export const TURNS = { form: 'trn_form', filter: 'trn_filter' } as const;

const MENU = (flour: string, bun: string, filters: string, price = '6.50') =>
  `{\n  "items": [\n    { "name": "Country loaf",\n      "price": ${price} },\n    { "name": "Almond cake",\n      "price": 4.20${flour} },\n    { "name": "Rice-flour bun",\n      "price": 3.10${bun} },\n    { "name": "Cinnamon knot",\n      "price": 2.80 }\n  ],\n  "filters": [\n    "all", "bread", "cakes"${filters}\n  ],\n  "currency": "EUR"\n}\n`;
const FREE = ',\n      "tags": ["gluten-free"]';
const numbered = (n: number, line: (at: number) => string) =>
  Array.from({ length: n }, (_, at) => `${line(at)}\n`).join('');
const FORM = (columns: string) =>
  `.order-form {\n  display: grid;\n  grid-template-columns: ${columns};\n}\n${numbered(12, (at) => `.field-${at} { gap: ${at}px; }`)}`;

export function bakery(w: Words, start: number): FakeFolder {
  const folder = new FakeFolder();
  folder.put(
    'order.html',
    numbered(24, (at) => `<label>Field ${at}</label><input name="f${at}">`),
  );
  folder.put('styles.css', FORM('1fr 1fr'));
  folder.put('menu.json', MENU('', '', ''));
  folder.put(
    'scripts/menu.js',
    numbered(40, (at) => `show(items[${at}]);`),
  );
  folder.put(
    'scripts/old-menu.js',
    numbered(6, (at) => `draw(${at});`),
  );
  folder.put('checks/run.sh', { text: 'node checks/form.mjs\n', mode: 0o644 });
  folder.begin(TURNS.form, w.ask, start);
  folder.change(
    'order.html',
    numbered(24, (at) =>
      at % 3 === 0
        ? `<label for="f${at}">Field ${at}</label>\n<input id="f${at}" name="f${at}">`
        : `<label>Field ${at}</label><input name="f${at}">`,
    ),
    'cal_w1',
  );
  folder.change('styles.css', FORM('1fr'), 'cal_w2');
  folder.begin(TURNS.filter, w.filterAsk, start + 240_000);
  folder.change('menu.json', MENU(FREE, FREE, ',\n    "gluten-free"'), 'cal_w3');
  folder.change(
    'scripts/menu.js',
    numbered(44, (at) =>
      at % 4 === 0 ? `if (fits(items[${at}])) show(items[${at}]);` : `show(items[${at}]);`,
    ),
    'cal_w4',
  );
  folder.change(
    'styles/filter.css',
    numbered(9, (at) => `.filter-${at} { display: block; }`),
    'cal_w5',
  );
  folder.change('scripts/old-menu.js', null);
  folder.change('scripts/latest.js', { text: 'menu.js', kind: 'link' });
  folder.change('checks/run.sh', { text: 'node checks/form.mjs\n', mode: 0o755 });
  folder.change('photos/small', { text: '', kind: 'folder' });
  folder.put('menu.json', MENU(FREE, FREE, ',\n    "gluten-free"', '6.80'));
  return folder;
}
