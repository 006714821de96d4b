// Ties the page together: playback, keyboard, pointer, read-outs.

(function () {
  const element = (id) => document.getElementById(id);
  const run = JSON.parse(element("run").textContent);
  const { scene, frames, events } = run;
  const camera = new Camera(scene.dimension, boundsOf(run));
  const stage = new Stage(run, camera);
  const plot = new EnergyPlot(run);
  const end = frames[frames.length - 1].t, duration = end - frames[0].t;
  const canvases = { stage: element("stage"), energy: element("energy"), ticks: element("ticks") };
  let number = 0, time = frames[0].t, playing = false, before = 0, colours = palette();

  /** Sizes a canvas to its place on the page, in device pixels, and returns its context in page pixels. */
  function prepared(canvas) {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return [context, box.width, box.height];
  }

  /** The last frame not after t. */
  function frameAt(t) {
    let [low, high] = [0, frames.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (frames[middle].t <= t + 1e-12 * Math.max(1, end)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  const digits = Math.max(2, Math.min(6, Math.ceil(-Math.log10(Math.max(duration, 1e-9) / 2000))));
  const joules = (e) => {
    if (Math.abs(e) <= 1e-12 * plot.size) return "0 J";
    return (Math.abs(e) >= 1e4 || Math.abs(e) < 1e-3 ? e.toExponential(2) : e.toPrecision(4)) + " J";
  };

  function draw() {
    const [context, width, height] = prepared(canvases.stage);
    camera.resize(width, height);
    stage.draw(context, colours, number);
    const [energyContext, energyWidth, energyHeight] = prepared(canvases.energy);
    plot.draw(energyContext, colours, number, energyWidth, energyHeight);
    const [tickContext, tickWidth, tickHeight] = prepared(canvases.ticks);
    drawTicks(tickContext, colours, run, tickWidth, tickHeight);
    const frame = frames[number], text = frame.t.toFixed(digits) + " s";
    element("clock").replaceChildren(text + " ", Object.assign(document.createElement("small"), { textContent: "of " + end.toFixed(digits) }));
    const slider = element("slider");
    slider.value = number;
    slider.setAttribute("aria-valuetext", text);
    for (const name of ["kinetic", "potential", "total"]) element(name).textContent = joules(plot.curves[name][number]);
  }

  function seek(k) {
    number = Math.max(0, Math.min(frames.length - 1, k));
    time = frames[number].t;
    draw();
  }

  function setPlaying(on) {
    if (on && number >= frames.length - 1) seek(0);
    playing = on;
    element("play").classList.toggle("playing", on);
    element("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (on) {
      before = performance.now();
      requestAnimationFrame(tick);
    }
  }

  function tick(now) {
    if (!playing) return;
    time += ((now - before) / 1000) * Number(element("speed").value);
    before = now;
    const next = frameAt(time);
    if (next !== number) {
      number = next;
      draw();
    }
    if (time >= end) setPlaying(false);
    else requestAnimationFrame(tick);
  }

  function describe() {
    document.title = scene.name + " · stiction";
    element("title").textContent = scene.name;
    const world = scene.dimension === 2 ? "planar" : "spatial";
    element("subtitle").textContent = [scene.preset, "h = " + scene.step + " s", run.steps + " steps", world].join(" · ");
    const keys = scene.dimension === 3 ? "drag to turn, shift-drag to move, wheel to zoom" : "drag to move, wheel to zoom";
    element("footer").textContent = "stiction " + scene.version + " · space plays, arrows step, " + keys + ", double click resets";
    const legend = element("legend");
    const entry = (name, colour, kind) => {
      const mark = document.createElement("i");
      if (kind) mark.className = kind;
      else Object.assign(mark.style, { color: colour, background: "color-mix(in srgb, " + colour + " 30%, transparent)" });
      const line = document.createElement("span");
      line.append(mark, name);
      legend.append(line);
    };
    const moving = scene.bodies.filter((body) => body.track !== undefined);
    moving.slice(0, 12).forEach((body) => entry(body.name, "var(--body-" + (body.track % 6) + ")"));
    if (moving.length > 12) legend.append("and " + (moving.length - 12) + " more");
    if (frames.some((frame) => frame.contacts.length)) {
      entry("contact that sticks", "", "stick");
      entry("contact that slips", "", "slip");
    }
  }

  function listEvents() {
    const count = run.events_total;
    element("events-card").hidden = count === 0;
    element("events-title").textContent = count + (count === 1 ? " contact event" : " contact events");
    for (const event of events.slice(0, 300)) {
      const button = document.createElement("button");
      button.type = "button";
      const part = (text, name) => button.append(Object.assign(document.createElement("span"), { textContent: text, className: name }));
      part(event.t.toFixed(digits) + " s", "when");
      part(event.kind, "kind " + event.kind);
      part(event.contact, "where");
      button.addEventListener("click", () => { setPlaying(false); seek(frameAt(event.t)); });
      const item = document.createElement("li");
      item.append(button);
      element("events").append(item);
    }
  }

  function offerSpeeds() {
    const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
    // About six seconds for the whole run.
    const wanted = Math.max(duration, 1e-9) / 6;
    const nearest = speeds.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    for (const speed of speeds) element("speed").append(new Option(speed + "×", speed, false, speed === Math.min(nearest, 1)));
  }

  function listen() {
    const slider = element("slider");
    slider.max = frames.length - 1;
    slider.addEventListener("input", () => { setPlaying(false); seek(Number(slider.value)); });
    element("play").addEventListener("click", () => setPlaying(!playing));
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("select, summary, #events button") || event.ctrlKey || event.metaKey || event.altKey) return;
      const far = event.shiftKey ? 10 : 1;
      const action = {
        " ": () => setPlaying(!playing),
        ArrowLeft: () => { setPlaying(false); seek(number - far); },
        ArrowRight: () => { setPlaying(false); seek(number + far); },
        Home: () => seek(0),
        End: () => { setPlaying(false); seek(frames.length - 1); },
      }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    const pointers = new Map();
    const spread = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
    canvases.stage.addEventListener("pointerdown", (event) => {
      canvases.stage.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvases.stage.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const apart = pointers.size === 2 ? spread() : 0;
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      if (apart) camera.magnify(spread() / apart);
      else camera.drag(event.clientX - last[0], event.clientY - last[1], event.shiftKey);
      draw();
    });
    for (const name of ["pointerup", "pointercancel"]) canvases.stage.addEventListener(name, (event) => pointers.delete(event.pointerId));
    canvases.stage.addEventListener("wheel", (event) => { event.preventDefault(); camera.magnify(Math.exp(-event.deltaY * 0.0015)); draw(); }, { passive: false });
    canvases.stage.addEventListener("dblclick", () => { camera.reset(); draw(); });
    const seekInPlot = (event) => { setPlaying(false); seek(frameAt(plot.timeAt(event.offsetX))); };
    canvases.energy.addEventListener("pointerdown", seekInPlot);
    canvases.energy.addEventListener("pointermove", (event) => { if (event.buttons) seekInPlot(event); });
    window.addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = palette(); draw(); });
  }

  describe();
  listEvents();
  offerSpeeds();
  listen();
  // A link may name the moment to show: view.html#t=0.4
  const wanted = /^#t=([0-9.]+)$/.exec(location.hash);
  seek(wanted ? frameAt(Number(wanted[1])) : 0);
})();
