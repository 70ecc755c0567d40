// SPDX-License-Identifier: Apache-2.0
// Elements, and small drawings.

/** Makes an element: functions are handlers, booleans switch attributes, texts stay texts. `svg:path` is one of SVG. */
export function h(tag, given = {}, ...children) {
	const [, svg] = tag.split('svg:')
	const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', svg) : document.createElement(tag)
	for (const [key, value] of Object.entries(given)) {
		if (key === 'value' || typeof value === 'function') node[key] = value
		else if (typeof value === 'boolean') node.toggleAttribute(key, value)
		else if (value !== undefined) node.setAttribute(key, value)
	}
	node.append(...children.filter(Boolean))
	return node
}

/** Makes these the children of a box. Those that stay are not taken out, so they keep the focus and go on playing. */
export function fill(box, wanted) {
	for (const node of [...box.children]) if (!wanted.includes(node)) node.remove()
	wanted.forEach((node, i) => box.children[i] === node || box.insertBefore(node, box.children[i] ?? null))
}

/** Saves what is at an address under a name. */
export const download = (href, download) => h('a', { href, download }).click()

const microphone = 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5 11a7 7 0 0 0 14 0M12 18v3'
export const icons = {
	microphone, silent: microphone + 'M4 3l16 18', talk: 'M4 5h16v11H9l-5 4z',
	bars: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4',
	end: 'M6 6l12 12M18 6L6 18', send: 'M12 20V5M6 11l6-6 6 6', newest: 'M12 5v14M6 13l6 6 6-6',
	error: 'M12 9v5M12 17v.1M12 3l10 18H2z',
}
export const icon = name => h('svg:svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('svg:path', { d: icons[name] }))
