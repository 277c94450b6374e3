// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Properties;
import org.rocksdb.*;

// Lookups and scans of absent keys in eight files. usage: java Filters DIRECTORY
public final class Filters {
  static final int GROUPS = 20_000;
  static final Statistics TICKERS = new Statistics();

  static long count(TickerType... tickers) {
    long sum = 0;
    for (TickerType ticker : tickers) sum += TICKERS.getAndResetTickerCount(ticker);
    return sum;
  }

  static long countBlocks() {
    return count(TickerType.BLOCK_CACHE_DATA_HIT, TickerType.BLOCK_CACHE_DATA_MISS);
  }

  // A composite key: the length of a group's name, the name, and a row of the group.
  static byte[] key(ByteOrder order, int group, int row) {
    byte[] name = String.format("group%07d", group).getBytes();
    ByteBuffer key = ByteBuffer.allocate(8 + name.length).order(order);
    return key.putInt(name.length).put(name).putInt(row).array();
  }

  static void run(String directory, ByteOrder order, String policy, String extractor)
      throws RocksDBException {
    Properties text = new Properties();
    text.setProperty("block_based_table_factory", "{filter_policy=" + policy + "}");
    text.setProperty("prefix_extractor", extractor);
    text.setProperty("disable_auto_compactions", "true");
    ColumnFamilyOptions family = ColumnFamilyOptions.getColumnFamilyOptionsFromProps(text);
    if (family == null) throw new IllegalArgumentException("refused: " + text);
    DBOptions dbOptions = new DBOptions().setCreateIfMissing(true).setStatistics(TICKERS);
    try (RocksDB db = RocksDB.open(new Options(dbOptions, family), directory)) {
      for (int file = 0; file < 8; ++file) {
        for (int group = 2 * file; group < GROUPS; group += 16) {
          for (int row = 0; row < 10; ++row) db.put(key(order, group, row), new byte[100]);
        }
        db.flush(new FlushOptions());
      }
      int found = 0;
      countBlocks();
      for (int group = 1; group < GROUPS; group += 2) {
        if (db.get(key(order, group, 5)) != null) ++found;
      }
      System.out.printf("%s%n  %d absent keys: %d found, %d blocks read%n", policy, GROUPS / 2,
          found, countBlocks());
      for (int absent = 0; absent <= 1; ++absent) {
        int rows = 0;
        for (int group = absent; group < GROUPS; group += 2) {
          Slice end = new Slice(key(order, group, Integer.MAX_VALUE));
          ReadOptions read = new ReadOptions().setIterateUpperBound(end).setAutoPrefixMode(true);
          try (RocksIterator iterator = db.newIterator(read)) {
            for (iterator.seek(key(order, group, 0)); iterator.isValid(); iterator.next()) ++rows;
            iterator.status();
          }
        }
        System.out.printf("  %d %s groups: %d rows, %d blocks read, %d seeks filtered%n",
            GROUPS / 2, absent == 1 ? "absent" : "present", rows, countBlocks(),
            count(TickerType.LAST_LEVEL_SEEK_FILTERED, TickerType.NON_LAST_LEVEL_SEEK_FILTERED));
      }
    }
  }

  public static void main(String[] arguments) throws RocksDBException {
    RocksDB.loadLibrary();
    run(arguments[0] + "/stock", ByteOrder.BIG_ENDIAN, "bloomfilter:10", "nullptr");
    run(arguments[0] + "/kafka", ByteOrder.BIG_ENDIAN, "{id=blocksieve;prefixes=fields:len32}",
        "blocksieve.range");
    run(arguments[0] + "/spark", ByteOrder.LITTLE_ENDIAN,
        "{id=blocksieve;prefixes=fields:len32le}", "blocksieve.range");
  }
}
