'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const sides = ['old', 'new'];

// How far unchanged nodes around changed ones are shown, and how few are never hidden.
const CONTEXT = 2, FOLD_FROM = 6;

const state = { filter: 'all', search: '', current: -1, source: true, code: false, fold: true };

// An element with attributes and children; strings become text.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value);
  element.append(...children.filter((child) => child != null));
  return element;
}

function most(f) {
  return Math.max(...f.sides.map((side) => (side ? side.nodes.length : 0)), 0);
}
function isOneSided(f) {
  return f.sides.some((side) => !side);
}
function percent(part, all) {
  return all ? Math.floor((100 * part) / all) : 100;
}
// Paths without the directories that both share.
function shortNames(names) {
  const parts = names.map((name) => name.split('/'));
  let same = 0;
  while (parts.every((p) => p.length > same + 1 && p[same] === parts[0][same])) same++;
  return parts.map((p) => (same ? p.slice(same) : p).join('/'));
}
const versionNames = shortNames(data.versions);
function fileName(place) {
  return data.files[place[0]].split('/').pop();
}

function shown() {
  const wanted = state.search.toLowerCase();
  return data.functions
    .map((f, index) => ({ f, index }))
    .filter(({ f }) => f.name.toLowerCase().includes(wanted))
    .filter(({ f }) =>
      state.filter === 'all' ||
      (state.filter === 'changed' && f.changed && !isOneSided(f)) ||
      (state.filter === 'one' && isOneSided(f)) ||
      (state.filter === 'sequential' && f.sequential && !isOneSided(f)));
}

function drawTotals() {
  $('versions').replaceChildren(versionNames[0], make('span', {}, ' and '), versionNames[1]);
  $('versions').title = data.versions.join(' and ');
  const two = data.functions.filter((f) => !isOneSided(f));
  const all = two.reduce((sum, f) => sum + most(f), 0);
  const matched = two.reduce((sum, f) => sum + f.matched, 0);
  const changed = two.filter((f) => f.changed).length;
  $('totals').textContent =
    `${data.functions.length} functions, ${changed} changed, ${data.functions.length - two.length} on one side; ` +
    `${percent(matched, all)} % of ${all} nodes matched`;
}

function drawList() {
  for (const button of $('filter').children)
    button.setAttribute('aria-pressed', button.dataset.filter === state.filter);
  const items = shown().map(({ f, index }) => {
    const info = make('span', { class: 'info' });
    if (isOneSided(f)) {
      const side = f.sides[0] ? 0 : 1;
      info.append(make('span', { class: 'tag ' + sides[side] }, side ? 'only in new' : 'only in old'));
    } else {
      const part = percent(f.matched, most(f));
      info.append(make('span', { class: 'bar', title: part + ' % matched' }, make('i', { style: `width:${part}%` })));
      info.append(`${f.matched}/${most(f)}`);
      if (f.changed) info.append(make('span', { class: 'tag changed' }, 'changed'));
      if (f.sequential) info.append(make('span', { class: 'tag plain', title: f.sequential }, 'not woven'));
      if (f.how !== 'name') info.append(make('span', { class: 'tag edges', title: 'matched by ' + f.how }, 'renamed'));
    }
    const open = () => select(index);
    return make('li', {},
      make('button', { 'aria-current': index === state.current, 'data-index': index, onclick: open },
        make('span', { class: 'name' }, f.name), info));
  });
  $('list').replaceChildren(...(items.length ? items : [make('li', { class: 'none' }, 'No such function.')]));
}

function select(index) {
  state.current = index;
  for (const button of $('list').querySelectorAll('button'))
    button.setAttribute('aria-current', Number(button.dataset.index) === index);
  history.replaceState(null, '', '#' + encodeURIComponent(data.functions[index].name));
  drawFunction();
  $('table').scrollTop = 0;
}

function toggle(label, key, title) {
  return make('button', {
    'aria-pressed': state[key], title,
    onclick() { state[key] = !state[key]; drawFunction(); },
  }, label);
}

function drawFunction() {
  const f = data.functions[state.current];
  const table = $('table');
  if (!f) {
    $('head').replaceChildren();
    table.replaceChildren(make('p', { class: 'empty-page' }, 'Choose a function on the left.'));
    return;
  }
  const counts = f.sides.map((side) => (side ? side.nodes.length : 0));
  const facts = make('p', { class: 'facts' },
    isOneSided(f) ? `${Math.max(...counts)} nodes, in one version only`
      : `${counts[0]} and ${counts[1]} nodes, ${f.matched} matched (${percent(f.matched, Math.max(...counts))} %)`);
  if (f.how !== 'name' && f.how !== 'alone') facts.append(`; matched by ${{ map: 'name pair', body: 'equal bodies', likeness: 'similar bodies' }[f.how]}`);
  if (f.sequential && !isOneSided(f)) facts.append('; ', make('span', { class: 'reason' }, 'not woven: ' + f.sequential));
  const legend = [['the same', '--back', '--line'], ['changed', '--changed-back', '--changed'],
    ['goes elsewhere', '--edges-back', '--edges'], ['only in old', '--old-back', '--old'], ['only in new', '--new-back', '--new']]
    .map(([text, c, d]) => make('span', { style: `--c:var(${c});--d:var(${d})` }, text));
  const hasCode = f.sides.some((side) => side && side.nodes.some((n) => n.code));
  $('head').replaceChildren(
    make('h2', {}, f.name), facts,
    make('div', { id: 'tools' },
      make('div', { class: 'set' },
        toggle('Source', 'source', 'Show source lines'),
        hasCode ? toggle('IR', 'code', 'Show instructions') : null,
        toggle('Hide unchanged', 'fold', 'Show changes with what stands around them')),
      make('div', { class: 'set' },
        make('button', { onclick: () => jump(-1), title: 'Previous change (p)' }, '↑ Change'),
        make('button', { onclick: () => jump(1), title: 'Next change (n)' }, '↓ Change')),
      make('div', { class: 'legend' }, ...legend)));

  table.className = (state.source ? '' : 'no-source ') + (state.code && hasCode ? '' : 'no-code');
  const columns = make('div', { class: 'columns' });
  const title = (side) => make('div', { class: 'title' },
    make('b', {}, f.sides[side] ? f.sides[side].name : 'missing'), '  ' + versionNames[side],
    f.sides[side] && f.sides[side].place ? `  ${fileName(f.sides[side].place)}:${f.sides[side].place[1]}` : '');
  columns.append(make('div', { class: 'title' }), title(0), title(1), make('div', { class: 'title' }));
  const folded = state.fold ? hidden(f.rows) : [];
  for (let row = 0; row < f.rows.length; row++) {
    if (folded[row]) {
      let end = row;
      while (end < f.rows.length && folded[end]) end++;
      columns.append(fold(f, row, end));
      row = end - 1;
    } else columns.append(...drawRow(f, row));
  }
  table.replaceChildren(columns);
  drawWays(f);
}

// Which rows are hidden: unchanged ones far from changes, if there are changes and enough to hide.
function hidden(rows) {
  const keep = rows.map(() => false);
  let any = false;
  rows.forEach(([status], at) => {
    if (status === 'same') return;
    any = true;
    for (let i = at - CONTEXT; i <= at + CONTEXT; i++) if (i >= 0 && i < rows.length) keep[i] = true;
  });
  const hide = keep.map((k) => any && !k);
  for (let at = 0; at < hide.length; at++) {
    if (!hide[at]) continue;
    let end = at;
    while (end < hide.length && hide[end]) end++;
    if (end - at < FOLD_FROM) hide.fill(false, at, end);
    at = end;
  }
  return hide;
}

function fold(f, from, to) {
  const line = make('div', { class: 'fold' },
    make('button', {
      onclick() {
        const rows = [];
        for (let row = from; row < to; row++) rows.push(...drawRow(f, row));
        line.replaceWith(...rows);
        drawWays(f);
      },
    }, `${to - from} unchanged nodes`));
  return line;
}

function drawRow(f, row) {
  const [status, nodes] = f.rows[row];
  const lineSets = nodes.map((n, side) => new Set(n < 0 ? [] : f.sides[side].nodes[n].lines.map((p) => text(p).trim())));
  const codeSets = nodes.map((n, side) => new Set(n < 0 ? [] : (f.sides[side].nodes[n].code || []).map(withoutNumbers)));
  const cells = nodes.map((n, side) => {
    if (n < 0) return make('div', { class: 'cell empty' });
    return drawCell(f, side, n, status, lineSets[1 - side], codeSets[1 - side]);
  });
  return [make('div', { class: 'gutter' }), ...cells, make('div', { class: 'gutter' })];
}

function text(place) {
  const lines = data.source[place[0]];
  return (lines && lines[place[1]]) || '';
}

// Instructions without the numbers of values, which shift whenever anything is inserted.
function withoutNumbers(code) {
  return code.replace(/%[\w.]+/g, '%');
}

function drawCell(f, side, index, status, otherLines, otherCode) {
  const node = f.sides[side].nodes[index];
  const id = `${side}-${index}`;
  const link = ([to, label]) =>
    make('span', { class: 'way' }, label ? label + ' ' : '', make('a', {
      href: '#', onclick(event) { event.preventDefault(); reveal(f, side, to); },
    }, 'n' + to));
  const many = node.next.length > 8;
  const ways = make('span', { class: 'to' }, node.next.length ? '→ ' : '', ...node.next.slice(0, 8).map(link),
    many ? `and ${node.next.length - 8} more` : '');
  const what = make('div', { class: 'what' },
    make('span', { class: 'id' }, 'n' + index),
    make('span', { class: node.header ? 'loop' : '' }, (node.header ? '↻ ' : '') + node.title),
    make('span', { class: 'block', title: 'basic block' }, '%' + node.block), ways);
  let file = f.sides[side].place ? f.sides[side].place[0] : -1;
  const source = make('pre', { class: 'source' });
  for (const place of node.lines) {
    if (place[0] !== file) {
      file = place[0];
      source.append(make('span', { class: 'file' }, data.files[file]));
    }
    const content = text(place);
    const differs = status === 'changed' && content && !otherLines.has(content.trim());
    source.append(make('span', { class: 'l' }, make('i', {}, String(place[1])),
      make('span', { class: differs ? 'differs' : '' }, content)));
  }
  const code = make('pre', { class: 'code' });
  for (const line of node.code || []) {
    const differs = status === 'changed' && !otherCode.has(withoutNumbers(line));
    code.append(make('span', { class: 'l' }, make('span', { class: differs ? 'differs' : '' }, line)));
  }
  return make('div', {
    class: `cell ${status} ${sides[side]}`, id, style: `padding-left:${0.6 + 0.9 * Math.min(node.depth, 8)}rem`,
    onmouseenter: () => light(f, side, index, true), onmouseleave: () => light(f, side, index, false),
  }, what, node.lines.length ? source : null, node.code ? code : null);
}

// Shows a node, whether or not it is folded away.
function reveal(f, side, index) {
  if (!$(`${side}-${index}`)) { state.fold = false; drawFunction(); }
  const cell = $(`${side}-${index}`);
  cell.scrollIntoView({ block: 'center' });
  cell.classList.add('lit');
  setTimeout(() => cell.classList.remove('lit'), 1500);
}

// Draws the edges of both graphs as arcs beside the columns; longer arcs stand further out.
function drawWays(f) {
  const columns = $('table').firstElementChild;
  columns.querySelectorAll('svg').forEach((svg) => svg.remove());
  const origin = columns.getBoundingClientRect();
  f.sides.forEach((side, which) => {
    if (!side) return;
    const places = new Map();
    side.nodes.forEach((_, index) => {
      const cell = $(`${which}-${index}`);
      if (cell) {
        const box = cell.getBoundingClientRect();
        places.set(index, { top: box.top - origin.top, bottom: box.bottom - origin.top });
      }
    });
    const width = parseFloat(getComputedStyle(columns.firstElementChild).width) || 50;
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('class', 'ways');
    svg.setAttribute('width', width);
    svg.setAttribute('height', origin.height);
    svg.style[which ? 'right' : 'left'] = 0;
    side.nodes.forEach((node, from) => {
      for (const to of new Set(node.next.map(([to]) => to))) {
        const a = places.get(from), b = places.get(to);
        if (!a || !b) continue;
        const back = to <= from;
        const y1 = a.bottom - 9, y2 = b.top + 9;
        const reach = Math.min(width - 8, 7 + Math.log2(1 + Math.abs(y2 - y1) / 24) * 7.5);
        const edge = which ? 0 : width;
        const out = which ? reach : width - reach;
        const r = Math.min(6, Math.abs(y2 - y1) / 2, reach - 1) * Math.sign(y2 - y1 || 1);
        const k = which ? Math.abs(r) : -Math.abs(r);
        const path = document.createElementNS(svg.namespaceURI, 'path');
        const tip = which ? 4 : width - 4;
        path.setAttribute('d',
          `M${edge} ${y1} H${out - k} Q${out} ${y1} ${out} ${y1 + r} V${y2 - r} Q${out} ${y2} ${out - k} ${y2} H${edge}` +
          ` M${tip} ${y2 - 3} L${edge} ${y2} L${tip} ${y2 + 3}`);
        path.setAttribute('class', back ? 'back' : '');
        path.dataset.from = `${which}-${from}`;
        path.dataset.to = `${which}-${to}`;
        svg.append(path);
      }
    });
    columns.append(svg);
  });
}

function light(f, side, index, on) {
  const row = f.rows.find(([, nodes]) => nodes[side] === index);
  row[1].forEach((n, s) => {
    if (n < 0) return;
    const id = `${s}-${n}`;
    for (const path of document.querySelectorAll(`path[data-from="${id}"],path[data-to="${id}"]`))
      path.classList.toggle('lit', on);
  });
}

// To the next or previous run of rows that are not the same.
function jump(step) {
  const table = $('table');
  const cells = [...table.querySelectorAll('.cell.changed, .cell.edges, .cell.alone')];
  const middle = table.getBoundingClientRect().top + table.clientHeight / 2;
  const tops = cells.map((cell) => ({ cell, top: cell.getBoundingClientRect().top + cell.offsetHeight / 2 }));
  const next = step > 0 ? tops.find(({ top }) => top > middle + 4) : tops.reverse().find(({ top }) => top < middle - 4);
  if (next) next.cell.scrollIntoView({ block: 'center' });
}

$('search').addEventListener('input', (event) => { state.search = event.target.value; drawList(); });
$('filter').addEventListener('click', (event) => {
  if (!event.target.dataset.filter) return;
  state.filter = event.target.dataset.filter;
  drawList();
});
document.addEventListener('keydown', (event) => {
  if (event.target.tagName === 'INPUT') {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') { event.preventDefault(); $('search').focus(); }
  if (event.key === 'n') jump(1);
  if (event.key === 'p') jump(-1);
});
addEventListener('resize', () => { if (data.functions[state.current]) drawWays(data.functions[state.current]); });

drawTotals();
if (data.functions.some((f) => f.changed && !isOneSided(f))) state.filter = 'changed';
drawList();
const named = data.functions.findIndex((f) => '#' + encodeURIComponent(f.name) === location.hash);
const first = shown()[0];
if (named >= 0) select(named);
else if (first) select(first.index);
else drawFunction();
