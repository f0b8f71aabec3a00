/*
 * Measures one contender with one kind of work in a separate process, and prints one line of JSON:
 * node --expose-gc measure.mjs <adapter> <work> <origin> <scale>
 * It imports nothing else at the top, because it measures the start, too.
 */
const [, , name, work, origin, scaleText] = process.argv;
const scale = Number(scaleText);
const adapter = await import(`./adapters/${name}.mjs`);

const collectGarbage = () => {
  globalThis.gc();
  globalThis.gc();
};

/** Runs a call `count` times, `width` at a time. */
async function runInParallel(call, count, width) {
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
 * The median of several slices, because other work of the machine may disturb one. Garbage is not
 * collected explicitly: that would discard hidden classes without objects, and their compiled code.
 */
async function measure(slices, count, run) {
  const perSecond = [];
  const cpu = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await run();
    const seconds = (performance.now() - startedAt) / 1_000;
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
  /** GET, POST and paging at full speed after a warm-up. `start` measures the cold process. */
  async transport() {
    const face = adapter.open(await adapter.load?.(), origin);
    const response = await face.getOne();
    if (response.amount !== '1250.000000') throw new Error(`${name} did not read the record`);
    const count = Math.round(3_000 * scale);
    await runInParallel(face.getOne, 4 * count, 32);
    const get = await measure(5, count, () => runInParallel(face.getOne, count, 32));
    await runInParallel(face.post, 3 * count, 32);
    const post = await measure(5, count, () => runInParallel(face.post, count, 32));
    const passes = Math.max(1, Math.round(7 * scale));
    for (let pass = 0; pass < passes; pass += 1) await drain(face.listAll(), 20_000);
    const list = await measure(passes, 20_000, () => drain(face.listAll(), 20_000));
    return { get: get.perSecond, getCpu: get.cpu, postCpu: post.cpu, list: list.perSecond };
  },

  /** One call after another. The process is new, because 32 calls at a time compile other code. */
  async serial() {
    const face = adapter.open(await adapter.load?.(), origin);
    const count = Math.round(1_000 * scale);
    await runInParallel(face.getOne, 3 * count, 1);
    const get = await measure(7, count, () => runInParallel(face.getOne, count, 1));
    await runInParallel(face.post, 2 * count, 1);
    const post = await measure(7, count, () => runInParallel(face.post, count, 1));
    return { oneGetCpu: get.cpu, onePostCpu: post.cpu };
  },

  /** Like `serial`, but run.mjs has bound the client and the server to one core each. */
  async pinned() {
    const { oneGetCpu, onePostCpu } = await works.serial();
    return { pinnedGetCpu: oneGetCpu, pinnedPostCpu: onePostCpu };
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
    // The steady state: no contender prefetches before the second page.
    const steps = marks.slice(3).map((mark, index) => mark - marks[index + 2]);
    return { overlap: median(steps) };
  },

  /** A fresh process: import, then the client and its first request. */
  async start() {
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    const loaded = await adapter.load?.();
    const imported = performance.now() - startedAt;
    await adapter.open(loaded, origin).getOne();
    const first = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    const firstCpu = (user + system) / 1e3;
    return { import: adapter.load === undefined ? undefined : imported, first, firstCpu };
  },

  /** The heap after 100,000 and after a million items of one loop. */
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
      kyZod,
      data,
    ] = await Promise.all([
      import('../../src/calls/response.ts'),
      import('../../src/schemas/page.ts'),
      import('../../src/schemas/transfer.ts'),
      import('../../src/internal/json.ts'),
      import('zod'),
      import('./adapters/ky-zod.mjs'),
      import('./data.mjs'),
    ]);
    const text = `{"data":${data.items},"hasMore":true,"nextCursor":"c1"}`;
    const ours = responseCheck(pageBodySchema(transferSchema()));
    const classic = kyZod.schemas(z).page;
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
        // Parses again, because a checked page is in every cache.
        const pages = Array.from({ length: 30 }, () => JSON.parse(text));
        const startedAt = performance.now();
        for (const page of pages) {
          if (run(page) !== true) throw new Error(`${key} rejected the page`);
        }
        if (batch >= warmUp) samples[key].push(((performance.now() - startedAt) / 30) * 1_000);
      }
    }
    return Object.fromEntries(Object.entries(samples).map(([key, list]) => [key, median(list)]));
  },
};

console.log(JSON.stringify(await works[work]()));
process.exit(0);
