/*
 * One contender, one kind of work, in a process of its own: `node --expose-gc measure.mjs <adapter>
 * <work> <origin> <scale>`. Prints one line of JSON. Nothing is imported at the top but what every
 * contender needs, because start-up is one of the things measured.
 */
const [, , name, work, origin, scaleText] = process.argv;
const scale = Number(scaleText);
const adapter = await import(`./adapters/${name}.mjs`);

const collectGarbage = () => {
  globalThis.gc();
  globalThis.gc();
};

/** Runs a call `count` times, `width` at a time. */
async function inParallel(call, count, width) {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/**
 * The median of several slices: what else the machine does for a moment spoils one of them. Garbage
 * is collected when V8 wants to, as in life: a collection forced while nothing is going on throws
 * away hidden classes of which no object is alive, and with them the compiled code.
 */
async function timed(slices, count, run) {
  const perSecond = [];
  const cpu = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const before = process.cpuUsage();
    const begun = performance.now();
    await run();
    const seconds = (performance.now() - begun) / 1_000;
    const { user, system } = process.cpuUsage(before);
    perSecond.push(count / seconds);
    cpu.push((user + system) / count);
  }
  return { perSecond: median(perSecond), cpu: median(cpu) };
}

async function drain(list, expected) {
  let seen = 0;
  for await (const item of list) if (item.id !== undefined) seen += 1;
  if (seen !== expected) throw new Error(`${name} listed ${seen} items instead of ${expected}`);
}

const works = {
  /**
   * GET, POST and paging at full speed, as in a process that has been at work for a while: what the
   * compiler does during the first ten thousand calls is part of no figure. The cold side is `start`.
   */
  async transport() {
    const face = adapter.open(await adapter.load?.(), origin);
    const response = await face.getOne();
    if (response.amount !== '1250.000000') throw new Error(`${name} did not read the record`);
    const count = Math.round(3_000 * scale);
    await inParallel(face.getOne, 4 * count, 32);
    const get = await timed(5, count, () => inParallel(face.getOne, count, 32));
    await inParallel(face.post, 3 * count, 32);
    const post = await timed(5, count, () => inParallel(face.post, count, 32));
    const passes = Math.max(1, Math.round(7 * scale));
    for (let pass = 0; pass < passes; pass += 1) await drain(face.listAll(), 20_000);
    const list = await timed(passes, 20_000, () => drain(face.listAll(), 20_000));
    return { get: get.perSecond, getCpu: get.cpu, postCpu: post.cpu, list: list.perSecond };
  },

  /** A server that takes 20 ms a page and a consumer that takes 20 ms a page. */
  async overlap() {
    const face = adapter.open(await adapter.load?.(), origin);
    const marks = [];
    let seen = 0;
    for await (const item of face.listAll()) {
      if (item.id === undefined) throw new Error('no item');
      seen += 1;
      if (seen % 100 === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        marks.push(performance.now());
      }
    }
    // The steady state: nobody can be ahead before the second page.
    const steps = marks.slice(3).map((mark, index) => mark - marks[index + 2]);
    return { overlap: median(steps) };
  },

  /** A fresh process: import, then the client and its first request. */
  async start() {
    const begun = performance.now();
    const loaded = await adapter.load?.();
    const imported = performance.now() - begun;
    await adapter.open(loaded, origin).getOne();
    const first = performance.now() - begun;
    return { import: adapter.load === undefined ? undefined : imported, first };
  },

  /** What is still held after 100,000 and after a million items of one loop. */
  async heap() {
    const face = adapter.open(await adapter.load?.(), origin);
    const marks = {};
    let seen = 0;
    for await (const item of face.listAll()) {
      seen += item.id === undefined ? 0 : 1;
      if (seen === 100_000 || seen === 1_000_000) {
        collectGarbage();
        marks[seen] = process.memoryUsage().heapUsed;
      }
    }
    return { heapSmall: marks[100_000], heapLarge: marks[1_000_000] };
  },

  /** The checks of a page of 100 transfers, with the SDK's own checker, beside parsing its JSON. */
  async check() {
    const [
      { responseCheck },
      { pageBodySchema },
      { transferSchema },
      { parseJson },
      z,
      usual,
      data,
    ] = await Promise.all([
      import('../../src/calls/response-check.ts'),
      import('../../src/schemas/page.ts'),
      import('../../src/schemas/transfer.ts'),
      import('../../src/internal/json.ts'),
      import('zod'),
      import('./adapters/ky-zod.mjs'),
      import('./data.mjs'),
    ]);
    const text = `{"data":${data.items},"hasMore":true,"nextCursor":"c1"}`;
    const ours = responseCheck(pageBodySchema(transferSchema()));
    const classic = usual.schemas(z).page;
    const contestants = {
      check: (page) => ours.safeParse(page).success,
      checkClassic: (page) => classic.safeParse(page).success,
      parse: () => JSON.parse(text).hasMore,
      parseOurs: () => parseJson(text).hasMore,
    };
    const samples = Object.fromEntries(Object.keys(contestants).map((key) => [key, []]));
    const warmUp = 60;
    for (let batch = 0; batch < warmUp + 150 * scale; batch += 1) {
      for (const [key, run] of Object.entries(contestants)) {
        // Parsed anew: a page that was checked before sits in every cache.
        const pages = Array.from({ length: 30 }, () => JSON.parse(text));
        const begun = performance.now();
        for (const page of pages) {
          if (run(page) !== true) throw new Error(`${key} refused the page`);
        }
        if (batch >= warmUp) samples[key].push(((performance.now() - begun) / 30) * 1_000);
      }
    }
    return Object.fromEntries(Object.entries(samples).map(([key, list]) => [key, median(list)]));
  },
};

console.log(JSON.stringify(await works[work]()));
process.exit(0);
