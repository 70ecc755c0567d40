// SPDX-License-Identifier: Apache-2.0
// The body of the orb and its light, by WebGL; where there is none, the canvas draws them without the flow within.

const vertex = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4. - 1., 0., 1.); }`
// In pixels of an orb that is 160 wide, in a square of 288. `shape`: size in pixels, core, light; `flow`: how much, and when.
const fragment = `#version 300 es
precision highp float;
uniform vec3 shape;
uniform vec2 flow;
uniform vec3 colors[3];
out vec4 color;
vec3 place(float at) { return at < .5 ? mix(colors[0], colors[1], 2. * at) : mix(colors[1], colors[2], 2. * min(at, 1.) - 1.); }
void main() {
	vec2 at = (gl_FragCoord.xy / shape.x * 2. - 1.) * 144.;
	float away = length(at), pixel = 288. / shape.x;
	// The edge of a blurred disc is close to a logistic curve; the light ends before the picture does.
	float lit = away / (shape.y * 1.3), share = clamp((lit - 61.5) / 48.5, 0., 1.), veil = clamp((away - 80.) / 64., 0., 1.);
	float light = shape.z * (.6 - .5 * share) / (1. + exp(.0567 * (lit - 80.))) * (1. - veil) * (1. - veil) * (1. + 2. * veil);
	vec2 warped = at / (80. * shape.y);
	float calm = 1. - dot(warped, warped);
	for (float n = 1.; n < 4.; n++) {
		warped += flow.x * max(calm, 0.) * .3 / n * sin(warped.yx * (1.4 + n) + flow.y * vec2(.9, -.7) * n + n);
	}
	float inside = clamp((80. * shape.y - away) / pixel + .5, 0., 1.);
	float rim = .4 * clamp(1.5 - abs(80. * shape.y - away) / pixel, 0., 1.);
	vec3 body = mix(place((length(warped) * 80. - 10.) / 70.), vec3(1), rim);
	color = vec4(mix(mix(colors[1], colors[2], share) * light, body, inside), mix(light, 1., inside));
}`

/** The drawing of all orbs of a page; undefined: not tried yet, null: it cannot be. */
let shared

/** Whether there is no graphics card, so that a canvas draws faster: not every browser says so by giving no context. */
function isSlow(gl) {
	const name = gl.getParameter(gl.RENDERER)
	const info = name === 'WebKit WebGL' && gl.getExtension('WEBGL_debug_renderer_info')
	return /SwiftShader|llvmpipe|softpipe|Basic Render/i.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : name)
}

function make() {
	const canvas = document.createElement('canvas')
	const gl = canvas.getContext('webgl2', { failIfMajorPerformanceCaveat: true })
	if (!gl || isSlow(gl)) return null
	const program = gl.createProgram()
	for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
		const shader = gl.createShader(kind)
		gl.shaderSource(shader, text)
		gl.compileShader(shader)
		gl.attachShader(program, shader)
	}
	gl.linkProgram(program)
	if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null
	gl.useProgram(program)
	const [shape, flow, colors] = ['shape', 'flow', 'colors'].map(name => gl.getUniformLocation(program, name))
	return { canvas, gl, shape, flow, colors }
}

/** Draws it in the middle of a context whose unit is that of the orb; false: it cannot, so somebody else has to. `core` is its
 * size, 1 at rest, `light` and `moves` are from 0 to 1. */
export function drawOrb(context, size, core, light, moves, time, colors) {
	if (shared === undefined) shared = make()
	if (!shared || shared.gl.isContextLost()) return false
	const { canvas, gl } = shared
	if (canvas.width !== size) canvas.width = canvas.height = size
	gl.viewport(0, 0, size, size)
	gl.uniform3f(shared.shape, size, core, light)
	gl.uniform2f(shared.flow, moves, time % 1000)
	gl.uniform3fv(shared.colors, colors.flatMap(color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16) / 255)))
	gl.drawArrays(gl.TRIANGLES, 0, 3)
	context.drawImage(canvas, -144, -144, 288, 288)
	return true
}
