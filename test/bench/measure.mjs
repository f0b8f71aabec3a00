/*
 * Measures one contender with one kind of work in a process of its own, and prints one line of JSON:
 * node measure.mjs <adapter> <work> <origin>
 * A figure is the mean of all calls after the first one, because the median of short slices hides the
 * collections of garbage and the compiler, which a program pays for, too. It imports nothing else at
 * the top, because it measures the start, too.
 */
const [, , name, work, origin] = process.argv;
const adapter = await import(`./adapters/${name}.mjs`);

/** Runs a call `count` times, `width` at a time, and returns the means of one call. */
async function measure(count, width, call) {
  await call();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: count / seconds, cpu: (user + system) / count };
}

async function drain(list, expected) {
  let seen = 0;
  for await (const item of list) if (item.id !== undefined) seen += 1;
  if (seen !== expected) throw new Error(`${name} listed ${seen} items instead of ${expected}`);
}

const open = async () => adapter.open(await adapter.load?.(), origin);

const works = {
  async get() {
    const face = await open();
    const response = await face.getOne();
    if (response.amount !== '1250.000000') throw new Error(`${name} did not read the record`);
    return { getCpu: (await measure(8_000, 1, face.getOne)).cpu };
  },

  async post() {
    return { postCpu: (await measure(8_000, 1, (await open()).post)).cpu };
  },

  async get32() {
    const { perSecond, cpu } = await measure(12_000, 32, (await open()).getOne);
    return { get32: perSecond, get32Cpu: cpu };
  },

  async post32() {
    return { post32Cpu: (await measure(12_000, 32, (await open()).post)).cpu };
  },

  /** 20,000 items in pages of 100, ten times. */
  async list() {
    const face = await open();
    const { perSecond, cpu } = await measure(10, 1, () => drain(face.listAll(), 20_000));
    return { list: perSecond * 20_000, pageCpu: cpu / 200 };
  },

  /** A server that takes 20 ms a page and a consumer that takes 20 ms a page. */
  async overlap() {
    const face = await open();
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
    // No contender prefetches before the second page.
    const steps = marks.slice(3);
    return { overlap: (steps.at(-1) - steps[0]) / (steps.length - 1) };
  },

  /** Import, then the client and its first request. */
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
};

console.log(JSON.stringify(await works[work]()));
process.exit(0);
