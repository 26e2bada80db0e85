"use strict";
// Plays a scene that torsor has written into the page: parts on bodies, and where the bodies are over time. It loads nothing.
(() => {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const element = (id) => document.getElementById(id);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const floats = (text) => new Float32Array(bytes(text));
  const times = floats(scene.times), tracks = floats(scene.tracks), scales = floats(scene.scales);
  const bodies = scene.bodies, last = times.length - 1, duration = times[last];
  const state = { time: 0, playing: false, loop: true, speed: 1, shown: { ...scene.layers }, dirty: true };

  // Vectors and matrices, columns first, as WebGL wants them
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const unit = (a) => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
  const times4 = (a, b) => {
    const c = new Float32Array(16);
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++)
      c[4 * i + j] = a[j] * b[4 * i] + a[4 + j] * b[4 * i + 1] + a[8 + j] * b[4 * i + 2] + a[12 + j] * b[4 * i + 3];
    return c;
  };
  const rigid = ([x, y, z, qx, qy, qz, qw]) => new Float32Array([
    1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy + qz * qw), 2 * (qx * qz - qy * qw), 0,
    2 * (qx * qy - qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz + qx * qw), 0,
    2 * (qx * qz + qy * qw), 2 * (qy * qz - qx * qw), 1 - 2 * (qx * qx + qy * qy), 0, x, y, z, 1]);

  // Where a body is now: between two samples positions go straight, and quaternions along the chord
  function sampleAt(t) {
    let low = 0, high = last;
    while (high - low > 1) { const middle = (low + high) >> 1; if (times[middle] <= t) low = middle; else high = middle; }
    const span = times[high] - times[low];
    return [low, high, span > 0 ? Math.min(Math.max((t - times[low]) / span, 0), 1) : 0];
  }
  function bodyPose(body, [low, high, part]) {
    const a = 7 * (low * bodies + body), b = 7 * (high * bodies + body), pose = [];
    for (let k = 0; k < 7; k++) pose.push(tracks[a + k] + part * (tracks[b + k] - tracks[a + k]));
    const n = Math.hypot(pose[3], pose[4], pose[5], pose[6]) || 1;
    for (let k = 3; k < 7; k++) pose[k] /= n;
    return pose;
  }
  function bodyScale(body, [low, high, part]) {
    const place = scene.scaled.indexOf(body);
    if (place < 0) return [1, 1, 1];
    const a = 3 * (low * scene.scaled.length + place), b = 3 * (high * scene.scaled.length + place);
    return [0, 1, 2].map((k) => scales[a + k] + part * (scales[b + k] - scales[a + k]));
  }

  // Controls
  const clockText = () => `${state.time.toFixed(2)} / ${duration.toFixed(2)} s`;
  function setTime(t) {
    state.time = Math.min(Math.max(t, 0), duration);
    element("scrub").value = state.time;
    element("clock").textContent = clockText();
    state.dirty = true;
  }
  function setPlaying(on) {
    if (on && !state.loop && state.time >= duration) setTime(0);
    state.playing = on && duration > 0;
    element("play").textContent = state.playing ? "Pause" : "Play";
    state.dirty = true;
  }
  for (const layer of Object.keys(scene.layers)) {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = state.shown[layer];
    box.addEventListener("change", () => { state.shown[layer] = box.checked; state.dirty = true; });
    label.append(box, ` ${layer}`);
    element("switches").append(label);
  }
  element("scale").textContent = `grid ${scene.cell < 0.1 ? `${+(1000 * scene.cell).toPrecision(3)} mm` : `${+scene.cell.toPrecision(3)} m`}`;
  if (innerWidth < 600) element("switches").open = false;
  if (duration > 0) {
    element("controls").hidden = false;
    element("scrub").max = duration;
    element("play").addEventListener("click", () => setPlaying(!state.playing));
    element("scrub").addEventListener("input", (event) => { setPlaying(false); setTime(+event.target.value); });
    element("loop").addEventListener("change", (event) => { state.loop = event.target.checked; });
    element("speed").addEventListener("change", (event) => { state.speed = +event.target.value; });
    addEventListener("keydown", (event) => {
      if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); setPlaying(!state.playing); }
    });
  }
  window.torsor = {
    state, duration, seek: setTime, play: () => setPlaying(true), pause: () => setPlaying(false),
    pose: (body) => bodyPose(body, sampleAt(state.time)),
  };
  setTime(0);

  // Drawing
  const canvas = element("canvas"), gl = canvas.getContext("webgl2", { alpha: false, antialias: true, stencil: true });
  if (!gl) {
    element("problem").textContent = "This browser cannot draw in three dimensions (it has no WebGL 2).";
    element("problem").hidden = false;
    return;
  }
  function program(vertex, fragment) {
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, `#version 300 es\nprecision highp float;\n${source}`);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.bindAttribLocation(made, 0, "point");
    gl.bindAttribLocation(made, 1, "normal");
    gl.linkProgram(made);
    const places = {};
    for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
      const name = gl.getActiveUniform(made, k).name;
      places[name] = gl.getUniformLocation(made, name);
    }
    return { made, places };
  }
  const solid = program(`
    in vec3 point, normal;
    uniform mat4 camera, pose;
    uniform vec3 scale, up, light;
    uniform float ground, fall;
    out vec3 place, outward;
    void main() {
      place = (pose * vec4(point * scale, 1.0)).xyz;
      outward = mat3(pose) * (normal / scale);
      float height = max(dot(place, up) - ground, 0.0);
      place -= fall * light * height / dot(light, up);
      gl_Position = camera * vec4(place, 1.0);
    }`, `
    in vec3 place, outward;
    uniform vec3 eye, up, light;
    uniform vec4 colour;
    uniform float fall;
    out vec4 shade;
    void main() {
      vec3 n = normalize(outward), e = normalize(eye - place);
      if (dot(n, e) < 0.0) n = -n;
      float bright = 0.50 + 0.14 * dot(n, up) + 0.46 * max(dot(n, light), 0.0);
      float gleam = 0.16 * pow(max(dot(n, normalize(light + e)), 0.0), 40.0);
      shade = fall > 0.5 ? vec4(0.0, 0.0, 0.0, 0.14) : vec4(colour.rgb * bright + gleam, colour.a);
    }`);
  const floor = program(`
    in vec3 point;
    uniform mat4 camera;
    uniform vec3 first, second, middle;
    uniform float reach;
    out vec3 place;
    void main() {
      place = middle + reach * (point.x * first + point.y * second);
      gl_Position = camera * vec4(place, 1.0);
    }`, `
    in vec3 place;
    uniform vec3 first, second, middle;
    uniform float cell, radius;
    out vec4 shade;
    float line(vec2 at, float width) {
      vec2 off = abs(fract(at - 0.5) - 0.5) / max(fwidth(at), 1e-6);
      return clamp(width - min(off.x, off.y), 0.0, 1.0);
    }
    void main() {
      vec2 at = vec2(dot(place, first), dot(place, second)) / cell;
      vec3 colour = mix(vec3(0.925, 0.935, 0.945), vec3(0.80, 0.82, 0.84), line(at, 1.0));
      colour = mix(colour, vec3(0.66, 0.69, 0.72), line(at / 5.0, 1.3));
      float away = clamp(1.0 - (length(place - middle) / radius - 1.2) / 3.0, 0.0, 1.0);
      shade = vec4(colour, pow(away, 1.5));
    }`);
  function buffer(kind, data) {
    const made = gl.createBuffer();
    gl.bindBuffer(kind, made);
    gl.bufferData(kind, data, gl.STATIC_DRAW);
    return made;
  }
  function mesh(points, normals, triangles) {
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    buffer(gl.ARRAY_BUFFER, points);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    if (normals) {
      buffer(gl.ARRAY_BUFFER, normals);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 3, gl.BYTE, true, 4, 0);
    }
    buffer(gl.ELEMENT_ARRAY_BUFFER, triangles);
    return { array, count: triangles.length };
  }
  const shapes = scene.shapes.map((shape) =>
    mesh(floats(shape.points), new Int8Array(bytes(shape.normals)), new Uint32Array(bytes(shape.triangles))));
  const plane = mesh(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), null, new Uint32Array([0, 1, 2, 0, 2, 3]));
  const parts = scene.parts.map(([body, shape, pose, scale, colour, layer]) =>
    ({ body, shape: shapes[shape], pose: rigid(pose), at: pose, scale, colour, layer }));

  // Camera: it looks at `target` from `distance`, turned about the vertical and raised
  const [first, second, up] = scene.axes, light = scene.light;
  const middle = add(scene.centre, up, scene.ground - dot(scene.centre, up));
  const start = unit(scene.seen_from);
  const eye = { target: scene.centre, distance: scene.distance,
    turn: Math.atan2(dot(start, second), dot(start, first)), rise: Math.asin(Math.min(Math.max(dot(start, up), -1), 1)) };
  const half = Math.tan(scene.half_angle);
  function camera() {
    const out = add(add(first.map((x) => x * Math.cos(eye.turn) * Math.cos(eye.rise)), second, Math.sin(eye.turn) * Math.cos(eye.rise)),
      up, Math.sin(eye.rise));
    const right = unit(cross(up, out)), above = cross(out, right), aspect = canvas.width / canvas.height;
    const distance = eye.distance * Math.max(1, 1 / aspect);
    const from = add(eye.target, out, distance);
    const near = 0.02 * distance, far = distance + 40 * scene.radius;
    const look = new Float32Array([right[0], above[0], out[0], 0, right[1], above[1], out[1], 0, right[2], above[2], out[2], 0,
      -dot(right, from), -dot(above, from), -dot(out, from), 1]);
    const lens = new Float32Array([1 / (half * aspect), 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -(far + near) / (far - near), -1,
      0, 0, -2 * far * near / (far - near), 0]);
    return { matrix: times4(lens, look), from, right, above, distance };
  }
  let held = null;
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held = { x: event.clientX, y: event.clientY, slide: event.button === 2 || event.shiftKey };
  });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    [held.x, held.y] = [event.clientX, event.clientY];
    if (held.slide) {
      const { right, above, distance } = camera(), step = 2 * half * distance / canvas.clientHeight;
      eye.target = add(add(eye.target, right, -dx * step), above, dy * step);
    } else {
      eye.turn -= 0.008 * dx;
      eye.rise = Math.min(Math.max(eye.rise + 0.008 * dy, -1.5), 1.5);
    }
    state.dirty = true;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    eye.distance = Math.min(Math.max(eye.distance * Math.exp(0.001 * event.deltaY), 0.1 * scene.radius), 40 * scene.radius);
    state.dirty = true;
  }, { passive: false });
  addEventListener("resize", () => { state.dirty = true; });

  function drawPart(part, poses, scaled, alpha) {
    const { places } = solid, k = scaled[part.body];
    gl.uniformMatrix4fv(places.pose, false, times4(poses[part.body], part.pose));
    gl.uniform3f(places.scale, part.scale[0] * k[0], part.scale[1] * k[1], part.scale[2] * k[2]);
    gl.uniform4f(places.colour, part.colour[0], part.colour[1], part.colour[2], alpha);
    gl.bindVertexArray(part.shape.array);
    gl.drawElements(gl.TRIANGLES, part.shape.count, gl.UNSIGNED_INT, 0);
  }
  function draw() {
    const ratio = devicePixelRatio || 1, width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    if (!width || !height) return;
    const view = camera(), now = sampleAt(state.time);
    const poses = Array.from({ length: bodies }, (_, body) => rigid(bodyPose(body, now)));
    const scaled = Array.from({ length: bodies }, (_, body) => bodyScale(body, now));
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.975, 0.98, 0.985, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(floor.made);
    gl.uniformMatrix4fv(floor.places.camera, false, view.matrix);
    for (const [name, value] of [["first", first], ["second", second], ["middle", middle]]) gl.uniform3fv(floor.places[name], value);
    for (const [name, value] of [["reach", 5 * scene.radius], ["cell", scene.cell], ["radius", scene.radius]])
      gl.uniform1f(floor.places[name], value);
    gl.bindVertexArray(plane.array);
    gl.drawElements(gl.TRIANGLES, plane.count, gl.UNSIGNED_INT, 0);

    const shown = parts.filter((part) => state.shown[part.layer]), firm = shown.filter((part) => part.colour[3] >= 1);
    const { places } = solid;
    gl.useProgram(solid.made);
    gl.uniformMatrix4fv(places.camera, false, view.matrix);
    gl.uniform3fv(places.up, up);
    gl.uniform3fv(places.light, light);
    gl.uniform3fv(places.eye, view.from);
    gl.uniform1f(places.ground, scene.ground);
    if (dot(view.from, up) > scene.ground) {  // each point of the ground is darkened once
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      gl.uniform1f(places.fall, 1);
      for (const part of firm) drawPart(part, poses, scaled, 1);
      gl.disable(gl.STENCIL_TEST);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.uniform1f(places.fall, 0);
    for (const part of firm) drawPart(part, poses, scaled, 1);
    const far = (part) => {
      const at = times4(poses[part.body], part.pose);
      return Math.hypot(at[12] - view.from[0], at[13] - view.from[1], at[14] - view.from[2]);
    };
    const veils = shown.filter((part) => part.colour[3] < 1).map((part) => [far(part), part]).sort((a, b) => b[0] - a[0]);
    gl.depthMask(false);
    gl.enable(gl.CULL_FACE);
    for (const [, part] of veils) drawPart(part, poses, scaled, part.colour[3]);
    gl.disable(gl.CULL_FACE);
    gl.depthMask(true);
  }

  let before = null;
  function step(now) {
    if (state.playing && before !== null) {
      let t = state.time + state.speed * (now - before) / 1000;
      if (t >= duration) {
        if (state.loop) t %= duration;
        else { t = duration; setPlaying(false); }
      }
      setTime(t);
    }
    before = now;
    if (state.dirty) { state.dirty = false; draw(); }
    requestAnimationFrame(step);
  }
  requestAnimationFrame(step);
  setPlaying(true);
})();
